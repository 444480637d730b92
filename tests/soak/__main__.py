"""`python -m tests.soak --kills 500 --seed 7`: the kill campaign. Exit code 0: every promise was kept; 1: one was not."""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.fakes.forked import load
from tests.soak.campaign import NODES, Campaign, episodes, summary
from tests.soak.episode import BrokenPromise
from tests.soak.plants import PLANTS


def main() -> int:
    given = arguments()
    folder = Path(tempfile.mkdtemp(prefix="signalbox-soak-"))
    folder.chmod(0o711)
    until = time.time() + given.minutes * 60 if given.minutes else float("inf")
    campaign = Campaign(
        given.seed, given.kills, given.engine, folder, tell, given.episode, until, given.side_by_side, given.plant
    )
    tell(f"seed {given.seed}, {given.kills} kills, {given.engine}")
    began = time.time()
    try:
        load()
        asyncio.run(campaign.run())
    except BrokenPromise as broken:
        tell(f"\n{broken}")
        return 1
    shutil.rmtree(folder)
    tell(f"\nEvery promise was kept, in {time.time() - began:.0f} s.\n{summary(campaign.counts)}")
    return 0


def tell(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.soak", description="Random traffic under random kills.")
    parser.add_argument("--kills", type=positive, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="the same seed, the same plan")
    parser.add_argument("--minutes", type=positive, default=0, help="begin no new episode after so long")
    parser.add_argument("--engine", choices=list(NODES), default="sqlite", help="on postgres there are two nodes")
    parser.add_argument("--episode", type=int, help="only this one")
    parser.add_argument("--plant", choices=list(PLANTS), action="append", default=[], help="put this bug in")
    parser.add_argument("--side-by-side", type=positive, default=2, help="episodes at once")
    given = parser.parse_args()
    if given.episode is not None and not 1 <= given.episode <= episodes(given.kills):
        parser.error(f"--episode: {given.kills} kills make the episodes 1 to {episodes(given.kills)}")
    return given


def positive(text: str) -> int:
    """A whole number from 1. Errors: ValueError, which argparse tells."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main())
