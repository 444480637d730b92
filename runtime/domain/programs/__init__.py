"""Programs that speak through the API: their tokens, and what each may do."""
