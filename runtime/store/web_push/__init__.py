"""Browsers that are told what waits for their person."""
