"""Renders one template; run as a program of its own by `renderer`, with the order on its standard input."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Final

MEMORY_MAX_BYTES: Final = 512 << 20  # bytes of addresses; about 100 MB of it are used
EXIT_BROKEN: Final = 3  # exit code
ANSWER_MAX_CHARS: Final = 1_000_000
"""Characters of an answer: more than the longest text has, whatever it is written in. Who asked holds all of it."""
VALUES_TOO_LONG: Final = f"its values are too long: at most {ANSWER_MAX_CHARS:,} characters are taken"


def main(seconds: int) -> int:
    _bound(seconds)
    from runtime.templating.environment import answered
    from runtime.templating.order import Order

    try:
        answer = json.dumps(answered(Order.from_json(sys.stdin.read())))
    except MemoryError:
        return EXIT_BROKEN
    sys.stdout.write(answer if len(answer) <= ANSWER_MAX_CHARS else json.dumps({"error": VALUES_TOO_LONG}))
    return 0


def _bound(seconds: int) -> None:
    bounds = {
        resource.RLIMIT_AS: MEMORY_MAX_BYTES,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: seconds,
    }
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (least, least))


if __name__ == "__main__":
    # Started without the folder it was found in: the end of the path, so that nothing hides the standard library.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    sys.dont_write_bytecode = True
    raise SystemExit(main(int(sys.argv[1])))
