"""Standing intents, for tools."""
