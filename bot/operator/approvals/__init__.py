"""Questions to people, and the permissions that came of them."""
