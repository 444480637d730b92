"""Tools of memory: for whom they keep and read, what their cards say, and which rule asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bot.wiring.tools.known import known_tools
from runtime.contract import (
    Address,
    CardContext,
    CardNote,
    Effect,
    Person,
    PersonId,
    Role,
    RunId,
    SessionKey,
    ToolContext,
)
from runtime.contract.memory.facts import Trust
from runtime.errors import ToolRetry
from runtime.policy.rules import SHIPPED, Ask, Policy, Ruling
from tests.unit.bot.settings.test_settings import read
from tools.remembering.actors import keeper, reader, setter, trust_of
from tools.remembering.memories import SEEN_BY, wider_card
from tools.remembering.telling import moment_of

ADA: Final = Person(PersonId("p1"), "Ada", Role.USER)
CONTEXT: Final = ToolContext(
    Path(), SessionKey("s"), RunId("r"), "c1", Address.parse("page:main/r1"), ADA, agent="main"
)


async def own_words() -> bool:
    return True


def test_a_run_reads_for_whoever_asks_and_a_child_for_nobody() -> None:
    assert reader(CONTEXT).person == ADA
    assert reader(replace(CONTEXT, is_child=True)).person is None


@pytest.mark.parametrize("who", [None, replace(ADA, role=Role.VIEWER)], ids=["nobody", "a viewer"])
def test_nothing_is_kept_for_nobody_or_a_viewer(who: Person | None) -> None:
    with pytest.raises(ToolRetry, match="role user"):
        keeper(replace(CONTEXT, requester=who))


def test_values_are_set_for_nobody_but_not_for_a_viewer() -> None:
    assert setter(replace(CONTEXT, requester=None)).person is None
    with pytest.raises(ToolRetry, match="role user"):
        setter(replace(CONTEXT, requester=replace(ADA, role=Role.VIEWER)))


def test_the_same_call_is_the_same_and_another_wish_is_not() -> None:
    assert keeper(CONTEXT, "x").key == keeper(CONTEXT, "x").key
    assert keeper(CONTEXT, "x").key != keeper(CONTEXT, "y").key


async def test_what_nobody_vouches_for_is_not_believed() -> None:
    assert await trust_of(CONTEXT) is Trust.LOW
    assert await trust_of(replace(CONTEXT, own_words=own_words)) is Trust.SAID


@pytest.mark.parametrize(
    ("tool", "scope", "ruling"),
    [
        ("remember", None, Ruling.ALLOW),
        ("remember", "person", Ruling.ALLOW),
        ("remember", "room", Ruling.ASK),
        ("remember", "agent", Ruling.ASK),
        ("relate", "room", Ruling.ASK),
        ("state_set", "room", Ruling.ALLOW),
        ("state_set", "agent", Ruling.ASK),
        ("forget", None, Ruling.ALLOW),
    ],
)
def test_what_others_have_read_too_is_asked_about(tool: str, scope: str | None, ruling: Ruling) -> None:
    arguments = {"scope": scope} if scope else {}
    ask = Ask(tool, Effect.WRITE, arguments, "main", "page:main/r1", frozenset({"Ada"}))
    assert Policy(SHIPPED).ruling(ask) is ruling


@pytest.mark.parametrize("scope", ["room", "agent"])
def test_a_card_says_who_will_have_it_read(scope: str) -> None:
    assert CardNote(SEEN_BY[scope]) in wider_card({"text": "x", "scope": scope}, CardContext(Path()))


def test_a_day_that_is_none_is_refused_with_an_example() -> None:
    with pytest.raises(ToolRetry, match="2026-12-01"):
        moment_of("yesterday")


def test_without_memory_there_are_no_tools_of_it(tmp_path: Path) -> None:
    assert "remember" in known_tools(read(tmp_path, ""))
    assert not {"remember", "recall", "state_get"} & known_tools(read(tmp_path, "[memory]\nenabled = false\n")).keys()
