"""Shared parts of web routes: refusals, the guard before them, bodies, and who is signed in."""
