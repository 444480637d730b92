"""Answers that hold for more than one call: grants as rows, how one is given, and one yes for all open calls of a run."""
