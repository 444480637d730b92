"""Programs that live on between calls: started, read, written to and stopped."""
