"""Plain text: cut, measured, named, and with nothing hidden in it."""
