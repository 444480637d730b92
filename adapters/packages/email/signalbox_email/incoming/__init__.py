"""The way in: a mail is read, judged, and becomes a signal."""
