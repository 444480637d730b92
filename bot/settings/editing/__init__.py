"""Settings as the page shows and changes them: what may be edited, and how a change is put into the file."""
