"""Databases that old programs left behind, and what a newer program makes of them."""
