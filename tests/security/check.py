"""`python -m tests.security.check`: does a suite know each route, each way for text, and each writing method of a store? Exit 1 says which not.

It reads the source alone, so that `make check` may ask it. Text columns are asked for by `python -m runtime.store.check`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from tests.security.routes import ELSEWHERE, TABLE, declared
from tests.security.sinks import OTHER_WRITES, SINKS, TEXT_WRITES, sinks, writing_methods

ROUTE: Final = (
    "{one}: say in TABLE of tests/security/routes.py who may use this route, or in ELSEWHERE where that is tested."
)
ROUTE_GONE: Final = "{one}: no such route is declared any more; take it out of tests/security/routes.py."
SINK: Final = (
    "{one}: a new way for text. Let the text pass the leak guard (a `Door`, `Couriers.post`, a `GuardedModel`), then add it with "
    "its gate to SINKS in tests/security/sinks.py."
)
SINK_GONE: Final = "{one}: no such way for text any more; take it out of SINKS in tests/security/sinks.py."
WRITE: Final = (
    "{one}: a new writing method of a store. Add it to TEXT_WRITES in tests/security/sinks.py if it takes text of people, models, "
    "tools or platforms, else to OTHER_WRITES."
)
WRITE_GONE: Final = "{one}: no writing method of a store any more; take it out of tests/security/sinks.py."


def unknown_routes(there: Collection[str]) -> Iterator[str]:
    known = {*TABLE, *ELSEWHERE}
    yield from (ROUTE.format(one=one) for one in sorted(set(there) - known))
    yield from (ROUTE_GONE.format(one=one) for one in sorted(known - set(there)))


def unknown_sinks(there: Mapping[str, Collection[str]]) -> Iterator[str]:
    found = {f"{module}: {name}" for module, called in there.items() for name in called}
    known = {f"{module}: {name}" for module, (called, _) in SINKS.items() for name in called}
    yield from (SINK.format(one=one) for one in sorted(found - known))
    yield from (SINK_GONE.format(one=one) for one in sorted(known - found))


def unknown_writes(there: Collection[str]) -> Iterator[str]:
    known = TEXT_WRITES | OTHER_WRITES
    yield from (WRITE.format(one=one) for one in sorted(set(there) - known))
    yield from (WRITE_GONE.format(one=one) for one in sorted(known - set(there)))


def faults() -> Iterator[str]:
    yield from unknown_routes(declared())
    yield from unknown_sinks(sinks())
    yield from unknown_writes(writing_methods())


if __name__ == "__main__":
    told = list(faults())
    sys.stderr.write("".join(f"{line}\n" for line in told))
    sys.exit(1 if told else 0)
