"""Everything a person can answer, and everything that is no answer, drawn by a seed and checked against plain rules."""
