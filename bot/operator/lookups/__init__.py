"""Finds what operators name: rooms, things by the begin of an id, traces of messages."""
