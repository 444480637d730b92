"""`python -m bench [NAME …] [--json FILE] [--short]`: measure and judge.

Only `make bench` judges; the short variant in the tests proves that this runs and prints.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from bench.claim import claim
from bench.disk import fsync
from bench.figures import Figure, table
from bench.memory import memory
from bench.reply import replies
from bench.start import start
from bench.store import store

Bench = Callable[[bool], Awaitable[list[Figure]]]

BENCHES: Final[dict[str, Bench]] = {
    "fsync": fsync,
    "start": start,
    "store": store,
    "claim": claim,
    "reply": replies,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Benchmarks of Signalbox.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHES)}; none: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures as JSON")
    parser.add_argument("--short", action="store_true", help="few rounds: shows that it runs, judges nothing")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHES)}")
    figures = asyncio.run(_measure(chosen.names or list(BENCHES), short=chosen.short))
    print(table(figures))
    if chosen.json:
        chosen.json.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    return 0 if chosen.short or all(figure.holds for figure in figures) else 1


async def _measure(names: list[str], *, short: bool) -> list[Figure]:
    figures: list[Figure] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr)
        figures += await BENCHES[name](short)
    return figures


if __name__ == "__main__":
    sys.exit(main())
