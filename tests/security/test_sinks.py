"""No text enters a table, a model request or a chat by a way that nobody thought about.

Each way is in the list of `tests/security/sinks.py`, with the gate of the leak guard on it. A new one fails here.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.security.sinks import OTHER_WRITES, SINKS, TEXT_WRITES, sinks, sinks_in, writing_methods

NEW: Final = (
    "New ways for text: {found}. Let the text pass the leak guard (a `Door`, `Couriers.post`, a `GuardedModel`), then add "
    "the module with its gate to SINKS in tests/security/sinks.py."
)
GONE: Final = "No longer there: {found}. Take them out of SINKS in tests/security/sinks.py."
UNSORTED: Final = (
    "New writing methods of a store: {found}. Add each to TEXT_WRITES in tests/security/sinks.py if it takes text of people, "
    "models, tools or platforms, else to OTHER_WRITES."
)


def test_each_way_for_text_has_its_gate() -> None:
    found, listed = sinks(), {module: called for module, (called, _) in SINKS.items()}
    new = {
        module: sorted(more) for module, called in found.items() if (more := called - listed.get(module, frozenset()))
    }
    assert not new, NEW.format(found=new)
    gone = {
        module: sorted(less) for module, called in listed.items() if (less := called - found.get(module, frozenset()))
    }
    assert not gone, GONE.format(found=gone)
    assert all(gate for _, gate in SINKS.values())


def test_each_writing_method_of_a_store_is_known() -> None:
    methods = writing_methods()
    assert not methods - TEXT_WRITES - OTHER_WRITES, UNSORTED.format(found=sorted(methods - TEXT_WRITES - OTHER_WRITES))
    assert methods == TEXT_WRITES | OTHER_WRITES
    assert TEXT_WRITES.isdisjoint(OTHER_WRITES)


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
