"""What a commit costs on this disk: the floor under everything durable."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.figures import Figure, high, middle


def fsync_times(folder: Path, rounds: int) -> list[float]:
    """Seconds that a 4 KiB append with fdatasync takes, `rounds` times."""
    times = []
    descriptor = os.open(folder / "fsync-probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for _ in range(rounds):
            os.write(descriptor, b"x" * 4096)
            began = time.perf_counter()
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - began)
    finally:
        os.close(descriptor)
    return times


async def fsync(short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        times = fsync_times(Path(folder), 20 if short else 300)
    return [Figure("fsync p50", middle(times) * 1000, "ms"), Figure("fsync p99", high(times) * 1000, "ms")]
