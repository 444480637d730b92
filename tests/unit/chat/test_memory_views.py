"""Words of `/memory` and `/forget`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from runtime.chat.views import memories as views
from runtime.contract import Address, PersonId
from runtime.contract.memory.facts import Memory, MemoryId, MemoryKind, Reader, Scope, ScopeKind, Trust
from runtime.text.words import said_in
from tools.remembering.telling import line_of

NOW: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROOM: Final = Address.parse("slack:work/C1")
OWN: Final = Reader("main", ROOM, PersonId("p1"))
GROUP: Final = Reader("main", ROOM)
REX: Final = Memory(
    id=MemoryId("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    agent="main",
    scope=Scope(ScopeKind.PERSON, "p1"),
    kind=MemoryKind.FACT,
    text="My dog\nis called *Rex*.",
    subject="",
    relation="",
    object="",
    trust=Trust.SAID,
    importance=3,
    pinned=True,
    by="Ada",
    source_run=None,
    valid_from=NOW,
    valid_to=None,
    superseded_by=None,
    expires_at=None,
    uses=0,
    used_at=None,
    created_at=NOW,
)
TEAM: Final = replace(REX, scope=Scope(ScopeKind.ROOM, str(ROOM)), pinned=False, expires_at=NOW + timedelta(days=1))
NOTE: Final = replace(REX, trust=Trust.LOW, pinned=False)


def test_what_counts_stands_first_and_by_whom_it_is_for() -> None:
    assert views.listed([NOTE, TEAM, REX], OWN, "!") == (
        "For you alone:\n\n- `9G5FAV` My dog is called \\*Rex\\*. (2026-03-01, pinned)\n\n"
        "For this room:\n\n- `9G5FAV` My dog is called \\*Rex\\*. (2026-03-01, by Ada, until 2026-03-02)\n\n"
        "I noted these and don't use them unasked. `!memory accept ID` makes one count:\n\n"
        "- `9G5FAV` My dog is called \\*Rex\\*. (2026-03-01, from outside or another program)\n\n"
        "`!forget ID` removes one for good."
    )


def test_what_was_taken_over_says_from_where() -> None:
    taken = replace(REX, trust=Trust.STAGED, pinned=False, by="", origin="OpenClaw")
    assert views.line_of(taken).endswith("(2026-03-01, from OpenClaw)")
    assert views.line_of(replace(taken, trust=Trust.SAID)).endswith("(2026-03-01, from OpenClaw)"), "accepted, too"
    assert views.line_of(replace(taken, origin="")).endswith("(2026-03-01, from a conversation)")
    assert "taken over from OpenClaw, confirmed by nobody" in line_of(taken)
    with said_in("de"):
        assert views.line_of(taken).endswith("(2026-03-01, aus OpenClaw)")


def test_a_group_is_told_where_the_rest_is() -> None:
    assert views.IN_PRIVATE in views.listed([TEAM], GROUP, "/")
    assert views.listed([], GROUP, "/") == f"{views.NOTHING_KEPT_IN_ROOM} {views.IN_PRIVATE}"
    assert views.listed([], OWN, "/") == views.NOTHING_KEPT


def test_a_long_list_says_how_much_more_there_is() -> None:
    assert "- and 10 more" in views.listed([REX] * (views.MEMORIES_LISTED + 10), OWN, "/")


def test_why_tells_what_was_used_and_of_the_rest_why_not() -> None:
    told = views.why([(REX, "given: words, 1st")], [(NOTE, "nobody has accepted it")] * 11, 2)
    assert "is called \\*Rex\\*. (2026-03-01, pinned): given: words, 1st" in told
    assert "(2026-03-01, from outside or another program): nobody has accepted it" in told
    assert "- and 1 more" in told
    assert told.endswith("2 memories that I keep for you alone I use in our private chats only.")
    assert views.why([], [], 0) == views.NOT_USED
