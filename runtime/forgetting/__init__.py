"""Walks through all that is kept, for a person who is to be forgotten or wants to know what is kept."""
