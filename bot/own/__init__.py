"""The page of one's own data: what is held about whoever looks, for everybody who is known."""
