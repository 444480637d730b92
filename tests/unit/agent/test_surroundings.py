"""Facts of a conversation that are kept for its next message."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from runtime.agent.offering import offered
from runtime.agent.surroundings import Standing, shared
from runtime.context.prompt.prompts import Prompted
from runtime.contract import Effect, ToolSpec
from runtime.domain.agents.manifest import Manifest
from runtime.policy.rules import Policy

AT = datetime(2026, 11, 26, tzinfo=UTC)


def standing(room: str, *names: str) -> Standing:
    specs = tuple(ToolSpec(name, f"Does {name}.", {"type": "object"}, Effect.WRITE) for name in names)
    offer = offered(specs, lambda _: "")
    return Standing((Manifest(name="main"), Policy([])), specs, (), AT, Prompted(room), offer, frozenset(names))


def test_rooms_with_the_same_tools_share_them() -> None:
    one, other = standing("one", "read", "write"), standing("other", "read", "write")
    told = shared(one, other)
    assert told == other
    assert (told.specs, told.offer, told.writes) == (one.specs, one.offer, one.writes)
    assert all(
        mine is its for mine, its in ((told.specs, one.specs), (told.offer, one.offer), (told.writes, one.writes))
    )


def test_rooms_with_other_tools_keep_their_own() -> None:
    one, other = standing("one", "read", "write"), standing("other", "read")
    assert shared(one, other) is other
    assert shared(replace(one, writes=frozenset()), one) is one
