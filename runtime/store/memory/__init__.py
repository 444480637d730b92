"""Memories, values of programs and summaries of people: their rows, and who may read and change them."""
