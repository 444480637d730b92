"""Shell commands and the walls around them."""
