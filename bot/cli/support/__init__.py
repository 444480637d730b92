"""Commands for whoever helps: the last lines of the log, and a support bundle."""
