"""The operators' API, for the console, the command line and programs."""
