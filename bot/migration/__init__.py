"""Migration from another bot's folder: read it, plan, back up, write. The other folder is never written to."""
