"""Choice among several models: who is asked, who answers in its place, and who rests."""
