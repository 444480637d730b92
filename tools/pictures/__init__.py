"""Tools for pictures and recordings: made, looked at and written down by models."""
