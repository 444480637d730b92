"""`python -m bench [NAME …] [--json FILE] [--short]`: measure and judge.

Only `make bench` judges; the short variant in the tests proves that this runs and prints.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from bench.benches import BENCHES, Found, measure
from bench.figures import table


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Benchmarks of Signalbox.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHES)}; none: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures as JSON")
    parser.add_argument("--short", action="store_true", help="few rounds: shows that it runs, judges nothing")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHES)}")
    signal.signal(signal.SIGTERM, _leave)
    began = time.monotonic()
    found = measure(chosen.names or list(BENCHES), short=chosen.short)
    figures = [figure for one in found for figure in one.figures]
    print(table(figures, without="verdict" if chosen.short else ""))
    if chosen.json:
        chosen.json.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    return _verdict(found, short=chosen.short, seconds=time.monotonic() - began)


def _leave(number: int, _: object) -> NoReturn:
    """Told to end: through every `finally`, so that no process and no folder stays behind."""
    sys.exit(128 + number)


def _verdict(found: Sequence[Found], *, short: bool, seconds: float) -> int:
    """The last line, and the exit code."""
    missed = [name for one in found for name in one.missed]
    if short:
        print("\nShort: nothing is judged.")
        return 1 if any(one.broke for one in found) else 0
    told = f"Missed: {', '.join(missed)}." if missed else "Every bound holds."
    print(f"\n{told} Measured in {seconds / 60:.1f} minutes.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
