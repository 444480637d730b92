"""Backups: one file that holds a whole Signalbox at one moment, and the way back from it."""
