"""Tools in files of the owner's: read, checked, loaded here or served from a sandbox, and kept as the files change."""
