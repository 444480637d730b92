"""A clock that only grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

steady: Callable[[], float] = time.monotonic
if hasattr(time, "CLOCK_BOOTTIME"):
    steady = partial(time.clock_gettime, time.CLOCK_BOOTTIME)
"""Seconds that only grow: nobody sets them, and they go on while the machine sleeps, as leases do."""
