"""Tables of vectors: rows that still need one, and vectors of a part of a table in batches."""
