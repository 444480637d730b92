"""The kill campaign: random traffic, random kills, and a checker that tells the first broken promise as a story."""
