"""The pages of health: what the doctor finds, and the last lines of the log."""
