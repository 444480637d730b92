"""`signalbox skills`."""
