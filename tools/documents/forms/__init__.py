"""Forms of documents, each with its reader. Imported in the process that reads alone."""
