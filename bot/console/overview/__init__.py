"""The first page of the console."""
