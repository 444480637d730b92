"""Packs of documents, made from settings."""
