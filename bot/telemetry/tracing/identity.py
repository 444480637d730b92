"""Ids of traces and spans that any process can tell from the id of a message.

So a run that another node goes on with, hours and a kill later, continues its trace, and no id needs to be stored. A
message's id is 128 bits, as a trace's is: the one is the other in another alphabet.
"""

from __future__ import annotations

import hashlib

from runtime.domain.ids import value_of


def trace_id(work: str) -> int:
    """The trace of a run, which has the id of its first message; or of a delivery that no run made."""
    return value_of(work) or int.from_bytes(hashlib.sha256(work.encode()).digest()[:16], "big")


def root_id(work: str) -> int:
    """The span that stands for the message itself: all others are below it."""
    return int.from_bytes(hashlib.sha256(b"root:" + work.encode()).digest()[:8], "big")
