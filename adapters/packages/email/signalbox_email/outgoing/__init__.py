"""The way out: a delivery becomes a mail, which is sent once."""
