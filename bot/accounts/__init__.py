"""Accounts on chat platforms: supervised, named, failed over."""
