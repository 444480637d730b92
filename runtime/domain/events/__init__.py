"""Events: rows of the audit in words that programs can go by, and who is told of them."""
