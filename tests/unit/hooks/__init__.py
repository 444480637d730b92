"""Webhooks as a source: proofs, keys, payloads, words and settings."""
