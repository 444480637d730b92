"""The words of which tables of settings are made, for whoever declares one: the program, and each channel."""
