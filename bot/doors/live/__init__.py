"""Text of runs while they say it, for the streams of programs."""
