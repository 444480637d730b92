"""Matchers of one argument, by what it is: a text, a number, a word of a list, the host of a URL, a path."""
