"""One part of the program at a time, with values and fakes."""
