"""Event sinks, as the settings have them."""
