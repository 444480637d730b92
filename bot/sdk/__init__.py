"""Agents inside a program: a whole process in its own event loop, with the promises that the service keeps."""
