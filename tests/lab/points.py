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
"""A send has left; where the answer comes the process is frozen. Told by what goes through its way to the platform."""
POINTS: Final = ("part-marked", SENT, "part-shown", CHECKPOINT_OPEN, BEAT_OPEN)
SENDS: Final = {"telegram": b"/sendMessage", "slack": b"/chat.postMessage", "discord": b"/messages"}
"""Words by which a send is known on the wire."""
