"""Webhooks over real sockets, behind the guard of the page."""
