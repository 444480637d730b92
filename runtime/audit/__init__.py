"""The audit log: sealed, anchored outside the database, trimmed."""
