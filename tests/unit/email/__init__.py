"""The e-mail channel, by values."""
