"""Sealed secrets: an encrypted file, the chain of files that are looked into, and where their passphrase comes from."""
