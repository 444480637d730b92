"""Ids, times and the points tests can stop at."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NewType

SignalId = NewType("SignalId", str)
SessionKey = NewType("SessionKey", str)
RunId = NewType("RunId", str)
ApprovalId = NewType("ApprovalId", str)
DeliveryId = NewType("DeliveryId", str)
NodeId = NewType("NodeId", str)
PersonId = NewType("PersonId", str)
Identity = NewType("Identity", str)
"""A person's account on a platform: `channel:user`, such as `web:ada`, `telegram:1001` or `slack:T1/U1`."""

Json = Any
"""What `json.loads` gives: the shape is checked where it is read."""

Now = Callable[[], datetime]
NewId = Callable[[], str]
Probe = Callable[[str], None]
"""Called with the name of each point at which a kill must be harmless. Production passes `no_probe`."""


def no_probe(point: str) -> None:
    """The probe of production: nothing happens."""
