"""`python -m tests.unit.store.writer DATABASE CASE`: a process that tests kill or starve; it tells in lines what it did."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path

import structlog

from runtime.contract import Said
from runtime.errors import StoreError
from runtime.store.store import Store, open_store
from tests.contract.store.stage import GATE, UMA, HandClock, Stage, address

NOBODY = 65534


def tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def one(stage: Stage, n: int, size: int) -> None:
    try:
        signal = stage.signal(Said(f"{n} " + "x" * size), actor=UMA, at=address(f"r{n % 7}"))
        taken = await stage.store.intake.accept(signal, GATE)
        tell(accepted=taken.verdict.signal_id)
    except StoreError as error:
        tell(failed=str(error))


async def endless(stage: Stage) -> None:
    """Write until killed, many at a time."""
    n = 0
    while True:
        await asyncio.gather(*(one(stage, n + i, 100) for i in range(40)))
        n += 40


def size(path: Path) -> int:
    """Of the write-ahead log, in bytes: what grows while we write."""
    return Path(f"{path}-wal").stat().st_size


async def starved(stage: Stage, path: Path) -> None:
    """Write into a file that may not grow, then into one that may."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size(path) + 300_000, most))
    await asyncio.gather(*(one(stage, n, 5_000) for n in range(300)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    tell(relieved=True)
    await asyncio.gather(*(one(stage, n, 5_000) for n in range(300, 320)))


async def unprivileged(path: Path) -> None:
    """Open a file that this user may only read."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    try:
        store: Store = await open_store(f"sqlite:///{path}")
    except StoreError as error:
        tell(failed=str(error))
    else:
        await store.close()
        tell(opened=True)


async def main(path: Path, case: str) -> None:
    if case == "unprivileged":
        await unprivileged(path)
        return
    store = await open_store(f"sqlite:///{path}")
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    await (endless(stage) if case == "endless" else starved(stage, path))
    await store.close()


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # standard output is for the test
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
