"""Story of a message, in words: a pure function from the rows it left to a list of told events.

    Trail -told-> Story: Event, Event, ... and what it waits for now

Every time is one that a row has. Where rows have none, the story says what it does know: how long a model call took is
counted from the last recorded thing before it, and when a decided run was taken up again from what it did first.
"""

from runtime.timeline.timeline import told
from runtime.timeline.words import Event, Story, What, ahead

__all__ = ["Event", "Story", "What", "ahead", "told"]
