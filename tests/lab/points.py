"""Points at which the laboratory freezes a process: those of the kill tests, and two inside a transaction."""

from __future__ import annotations

from typing import Final

FREEZER: Final = "freeze-at"
"""The file beside a node's data that names the point at which it is to freeze."""
CHECKPOINT_OPEN: Final = "checkpoint-open"
"""A message is on screen, and the transaction that records it has begun and is not committed."""
BEAT_OPEN: Final = "beat-open"
"""The heartbeat's statement was sent and answered, and its transaction is not committed."""
SENT: Final = "sent"
"""Sends have left and are on screen, and their answers are held on the way: no point of the program, and frozen from outside."""
POINTS: Final = ("part-marked", SENT, "part-shown", CHECKPOINT_OPEN, BEAT_OPEN)
