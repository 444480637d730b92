"""Tasks of ours at agents of other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerTask:
    """A task that a call gave to a peer. `key` is that of the call; `question` is what the peer asks, and `asks` counts how often."""

    key: str
    run: str
    peer: str
    task: str = ""
    context: str = ""
    question: str = field(default="", repr=False)
    asks: int = 0


class PeerTasks(Protocol):
    """Book of tasks at peers, over restarts and on any node."""

    async def peer_task(self, key: str) -> PeerTask | None: ...

    async def keep_peer_task(self, task: PeerTask) -> None:
        """Keep it, in place of what was kept of the same call."""

    async def stopped_peer_tasks(self) -> Sequence[PeerTask]:
        """Tasks of runs that people stopped, but for those whose peers were told: these are kept without a `task`."""

    async def asking_peers(self, run: str) -> Sequence[PeerTask]:
        """Tasks of a run whose peers wait for an answer."""
