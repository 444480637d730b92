"""Rooms, what they were sent, and what a model would be sent of them."""
