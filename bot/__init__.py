"""The composition root: settings, command line and console."""
