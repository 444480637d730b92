"""Open questions as they wait for one person: in the inbox, and behind the cards of a private chat that is full."""
