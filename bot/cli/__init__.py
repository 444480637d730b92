"""The command line. Its modules import what a command needs when that command runs, so that each starts fast."""
