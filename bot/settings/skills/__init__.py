"""`[skills]`: where skills are, and what single ones are handed."""
