"""The account at a vendor: its keys, and what calls cost."""
