"""Ways of a press to us, on each channel."""
