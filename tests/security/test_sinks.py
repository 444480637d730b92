"""No text enters a table, a model request or a chat by a way that nobody thought about.

Each way is in the list of `tests/security/sinks.py`, with the gate of the leak guard on it. A new one fails here.
"""

from __future__ import annotations

import pytest

from tests.security.check import faults, unknown_routes, unknown_sinks, unknown_writes
from tests.security.routes import ELSEWHERE, TABLE
from tests.security.sinks import OTHER_WRITES, SINKS, TEXT_WRITES, sinks_in


def test_each_route_way_and_writing_method_is_known() -> None:
    assert list(faults()) == []
    assert all(gate for _, gate in SINKS.values())
    assert all(ELSEWHERE.values())
    assert TEXT_WRITES.isdisjoint(OTHER_WRITES)


def test_what_is_new_and_what_is_gone_is_told() -> None:
    routes = {*TABLE, *ELSEWHERE, "GET /new"} - {"GET /api/me"}
    assert [one.partition(":")[0] for one in unknown_routes(routes)] == ["GET /new", "GET /api/me"]
    ways = {module: called for module, (called, _) in SINKS.items() if module != "runtime/intake/pasted.py"}
    told = list(unknown_sinks({**ways, "bot/new.py": {"enqueue"}}))
    assert [one.split(": ")[:2] for one in told] == [
        ["bot/new.py", "enqueue"],
        ["runtime/intake/pasted.py", "NewDelivery"],
    ]
    writes = (TEXT_WRITES | OTHER_WRITES | {"jot"}) - {"accept"}
    assert [one.partition(":")[0] for one in unknown_writes(writes)] == ["jot", "accept"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from runtime.store.protocol import Outbox\nawait self.way_out.enqueue(words)", {"enqueue"}),
        ("await given.store.runs.finish_tool(1, text)", {"finish_tool"}),
        ("post(NewDelivery(text))", {"NewDelivery"}),
        ("contract.ModelRequest(text)", {"ModelRequest"}),
        ("await self._adapter.render(delivery)", set()),
        ("await self._names.note(name)", set()),
        ("from runtime.store.protocol import Outbox\nawait self._outbox.mark(duty, part)", set()),
    ],
)
def test_a_way_is_known_by_what_it_calls(source: str, found: set[str]) -> None:
    assert sinks_in(source.replace("await ", "")) == found
