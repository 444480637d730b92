"""The pages of people: who is known, who waits or is invited, and one person."""
