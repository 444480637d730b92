"""E-mail as a channel of Signalbox."""
