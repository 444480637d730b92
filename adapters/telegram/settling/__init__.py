"""Messages whose answer was lost, found again."""
