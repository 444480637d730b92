"""Each channel with its real client, over the fake of its platform."""
