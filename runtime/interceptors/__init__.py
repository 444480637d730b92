"""Interceptors: who is asked at which point of a run, and what follows from their answers."""
