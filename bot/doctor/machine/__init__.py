"""Checks of the machine, its folders and its processes."""
