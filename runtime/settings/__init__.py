"""Building blocks for tables of settings, for the program and each channel."""
