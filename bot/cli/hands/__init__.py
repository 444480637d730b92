"""`signalbox hands`."""
