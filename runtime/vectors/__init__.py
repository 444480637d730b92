"""Vectors of texts: made in the background, and compared with that of a query."""
