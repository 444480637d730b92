"""`python -m tests.lab`: the fault laboratory. Exit code 0: the table of sums holds; 1: it does not, or is not whole yet."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Final

from tests.fakes.forked import load
from tests.lab.campaign import (
    LONG_LEASE,
    LONG_QUOTA,
    QUOTA,
    SHORT_SEEDS,
    Batch,
    Campaign,
    Results,
    batches,
    each_kind,
    planted,
)
from tests.lab.sums import LAG_MOST, table

LAST_TRIAL_WITHIN: Final = 120.0
"""Seconds that trials get which are under way when the time is over."""


def plan_of(given: argparse.Namespace) -> list[Batch]:
    if given.full:
        made = [*batches(given.seed, QUOTA, 1.0), *batches(given.seed, LONG_QUOTA, LONG_LEASE)]
        Random(given.seed).shuffle(made)  # a part of it is of all sorts
    else:
        made = [batch for seed in range(given.seed, given.seed + SHORT_SEEDS) for batch in each_kind(seed)]
    return [batch for batch in [*planted(), *made] if given.only in batch.name]


def main() -> int:
    given = arguments()
    path = given.file or Path("var/lab") / ("full.jsonl" if given.full else "short.jsonl")
    if not given.full or given.fresh:
        path.unlink(missing_ok=True)
    results, began = Results(path), time.time()
    until = began + given.minutes * 60 if given.minutes else float("inf")
    campaign = Campaign(
        plan_of(given),
        results,
        tell=tell,
        until=until,
        beside=given.beside,
        again=lambda row: given.again and not row["plant"] and (row["lag"] > LAG_MOST or bool(row["broken"])),
    )
    tell(f"seed {given.seed}: {campaign.left} trials to do, {len(results.rows)} done, in {path}")
    load()
    asyncio.run(played(campaign, until + LAST_TRIAL_WITHIN))
    words, holds = table(list(results.rows.values()))
    tell(f"\n{words}\n\n{len(results.rows)} trials, {campaign.left} left, {time.time() - began:.0f} s.")
    return 0 if holds and not campaign.left else 1


async def played(campaign: Campaign, until: float) -> None:
    """Play what is left, to its end, or to the moment `until`, or until asked to stop: the table is told in any case, and no
    process outlives this one."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    seconds = None if until == float("inf") else until - time.time()
    try:
        async with asyncio.timeout(seconds):
            await campaign.run()
    except TimeoutError:
        tell("A trial took too long, and was ended.")
    except asyncio.CancelledError:
        tell("Stopped.")


def tell(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.lab", description="Faults that processes live through.")
    parser.add_argument("--full", action="store_true", help="the whole plan; it goes on where it stopped")
    parser.add_argument("--minutes", type=float, default=0, help="begin no new trial after so long")
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same plan")
    parser.add_argument("--beside", type=int, default=2, help="stages beside each other")
    parser.add_argument("--file", type=Path, help="where results are kept")
    parser.add_argument("--fresh", action="store_true", help="forget the results that there are")
    parser.add_argument(
        "--again", action="store_true", help="do trials again that broke a promise, or in which the machine stood still"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="stages whose name has this word")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
