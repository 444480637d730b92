"""What the console and the command line make of a story: matches, masks, names, aligned lines, a page."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.accounts.naming import naming
from bot.cli.trace import lines
from bot.operator.context import OperatorContext
from bot.operator.lookups import trails
from runtime.contract import Address, NodeId, RunId, SignalId
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.timeline.trail import Candidate, Thing, TracedRun, TracedSignal, Trail
from tests.unit.bot.fake_store import NOW, ROOM, FakeStore, approval, context_of, crowd, delivery, run
from tests.unit.bot.operator.console import EVIL, as_person, client, page, serving

ID = "0351abcdefghijklmnopqr"
SECRET = "sk-of-the-test-0123456789"


def message(found: str = ID, text: str = "list the files", address: Address = ROOM) -> Candidate:
    return Candidate(found, Thing.SIGNAL, NOW, "ada", address, "answered", text)


def trail(text: str = "list the files", *, node: str = "n1") -> Trail:
    """Sent, accepted 0.1 s later, worked on by a node after 0.2 s, and answered 90 s after it was sent."""
    said = TracedSignal(
        id=SignalId(ID),
        kind="said",
        who="ada",
        address=ROOM,
        text=text,
        files=0,
        state="consumed",
        merged_into=None,
        run_id=RunId(ID),
        received_at=NOW,
        accepted_at=NOW + timedelta(seconds=0.1),
        answered_at=NOW + timedelta(seconds=90),
        node=NodeId(node),
    )
    ran = TracedRun(
        id=RunId(ID),
        address=ROOM,
        state=RunState.DONE,
        requester="ada",
        claims=1,
        error="",
        started_at=NOW + timedelta(seconds=0.2),
        ended_at=NOW + timedelta(seconds=89),
        node=NodeId("n1"),
    )
    return Trail(ID, (said,), ran, labels={NodeId("n1"): "host/1", NodeId("n2"): "host/22"})


def shelf(*found: Candidate, kept: Trail | None = None) -> FakeStore:
    return FakeStore(traceable=list(found or [message()]), trails={ID: kept or trail()})


def context(store: FakeStore, **changed: Any) -> OperatorContext:
    return replace(context_of(store), **changed)


# -------------------------------------------------------------------------------------------------------- operations


async def test_an_exact_id_and_its_beginning_are_told() -> None:
    for words in (ID, ID[:6], f"  {ID}\n", f"{ID}.1"):
        told = await trails.trace(context(shelf()), words)
        assert told["matches"] == []
        assert told["trace"]["about"] == ID


async def test_a_story_has_stable_fields_with_times_in_utc() -> None:
    told = (await trails.trace(context(shelf()), ID))["trace"]
    assert {**told, "events": told["events"][:2]} == {
        "about": ID,
        "run": ID,
        "room": "web:w1/room01",
        "address": "web:w1/room01",
        "who": "ada",
        "text": "wrote “list the files”",
        "began_at": "2026-03-01T12:00:00.000000+00:00",
        "answered_at": "2026-03-01T12:01:30.000000+00:00",
        "seconds": 90.0,
        "now": "Answered 1 min 30 s after it was sent.",
        "over": True,
        "events": [
            {
                "at": "2026-03-01T12:00:00.000000+00:00",
                "after": 0.0,
                "what": "sent",
                "words": "ada wrote “list the files”",
                "subject": ID,
                "node": None,
            },
            {
                "at": "2026-03-01T12:00:00.100000+00:00",
                "after": 0.1,
                "what": "accepted",
                "words": "accepted after 0.100 s",
                "subject": ID,
                "node": "host/1",
            },
        ],
    }


async def test_several_that_fit_are_listed_shortened() -> None:
    store = shelf(message("0351aaaa", "x " * 200), message("0351bbbb"))
    told = await trails.trace(context(store), "0351")
    assert told["trace"] is None
    assert [one["id"] for one in told["matches"]] == ["0351aaaa", "0351bbbb"]
    assert len(told["matches"][0]["text"]) == 80


async def test_what_is_unknown_is_told_with_what_may_be_given() -> None:
    with pytest.raises(Refusal, match="the id of a message, run, approval or delivery") as refused:
        await trails.trace(context(shelf()), "nothing")
    assert refused.value.status == 404


async def test_what_is_not_kept_any_more_is_told() -> None:
    store = FakeStore(traceable=[message()])
    with pytest.raises(Refusal, match="no longer kept"):
        await trails.trace(context(store), ID)


async def test_secrets_are_masked_in_stories_and_in_lists() -> None:
    store = shelf(message(text=f"key {SECRET}"), kept=trail(f"key {SECRET}"))
    masked = context(store, mask=lambda text: text.replace(SECRET, "***"))
    for told in (await trails.trace(masked, ID), await trails.traceable(masked, "", 10)):
        assert SECRET not in str(told)
        assert "***" in str(told)


@pytest.mark.parametrize("room", ["web:main/room01", "web:w1/room01"])
async def test_a_room_may_be_given_by_the_accounts_name_or_its_identity(room: str) -> None:
    store = shelf(message(), message("other", address=Address("web", "w1", "room02")))
    named = context(store, named=naming([("web", "w1", "main")]))
    (row,) = await trails.traceable(named, room, 10)
    assert (row["id"], row["room"]) == (ID, "web:main/room01")


async def test_a_room_that_is_no_address_is_told_how_to_be_written() -> None:
    with pytest.raises(Refusal, match="write channel:account/room"):
        await trails.traceable(context(shelf()), "room01", 10)


async def test_the_running_process_answers_the_command() -> None:
    store = await crowd()
    store.traceable, store.trails = [message()], {ID: trail()}
    async with client(store) as api:
        assert (await api.trace(ID[:8]))["trace"]["about"] == ID
        assert [row["id"] for row in await api.traceable("web:w1/room01", 5)] == [ID]
        assert await api.traceable("web:w1/elsewhere") == []
        with pytest.raises(Refusal, match="Nothing here matches"):
            await api.trace("a/b?c#d%2F")


# ---------------------------------------------------------------------------------------------------- aligned lines


async def story(kept: Trail) -> dict[str, Any]:
    told: dict[str, Any] = (await trails.trace(context(shelf(kept=kept)), ID))["trace"]
    return told


async def test_times_stand_under_each_other_and_one_node_is_named_once() -> None:
    told = list(lines(await story(trail()), 200))
    assert told[0].endswith("web:w1/room01")
    assert told[1:] == [
        "ada wrote “list the files”",
        f"trace {ID} · all by node host/1",
        "",
        "   +0.000 s  ada wrote “list the files”",
        "   +0.100 s  accepted after 0.100 s",
        "   +0.200 s  picked up 0.100 s later",
        "  +1:29.000  finished with a reply",
        "  +1:30.000  answered, 1 min 30 s after it was sent",
        "",
        "Answered 1 min 30 s after it was sent.",
    ]


async def test_several_nodes_have_a_column() -> None:
    told = list(lines(await story(trail(node="n2")), 200))
    assert told[2] == f"trace {ID}"
    assert told[5:7] == [
        "   +0.100 s  host/22  accepted after 0.100 s",
        "   +0.200 s  host/1   picked up 0.100 s later",
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
async def test_on_a_narrow_terminal_words_wrap_beside_their_time(width: int) -> None:
    told = list(lines(await story(trail("word " * 60)), width))
    body = told[told.index("") + 1 :]
    assert max(map(len, body)) <= max(width, 2 + 9 + 2 + 30)
    assert any(line.startswith(" " * 13) for line in body)


async def test_nothing_in_a_message_can_steer_the_terminal() -> None:
    told = "\n".join(lines(await story(trail("a\x1b[2Jb\x07")), 200))
    assert "\x1b" not in told
    assert "\x07" not in told


# ------------------------------------------------------------------------------------------------------------- pages


async def shown(path: str, store: FakeStore | None = None) -> str:
    known = await crowd()
    source = store or shelf()
    known.traceable, known.trails = source.traceable, source.trails
    return await page(known, path)


async def test_the_page_lists_the_newest_and_has_a_field() -> None:
    html = await shown("/console/trace")
    assert f'href="/console/trace/{ID}"' in html
    assert 'action="/console/trace"' in html
    assert 'method="get"' in html


async def test_the_field_finds_by_the_beginning_of_an_id() -> None:
    html = await shown(f"/console/trace?of={ID[:6]}")
    assert 'class="story"' in html
    assert "+1:30.000" in html
    assert f'value="{ID[:6]}"' in html
    assert f'href="/console/runs/{ID}"' in html


async def test_the_field_lists_what_begins_alike_and_says_what_may_be_given() -> None:
    html = await shown("/console/trace?of=0351", shelf(message("0351aaaa"), message("0351bbbb")))
    assert "Several match" in html
    assert "/console/trace/0351bbbb" in html
    assert "the id of a message, run, approval or delivery" in await shown("/console/trace?of=nothing")


async def test_a_story_that_is_not_there_is_a_page_that_says_so() -> None:
    async with serving(await crowd()) as browser, browser.get("/console/trace/nope", **as_person("ada")) as answer:
        assert answer.status == 404
        assert "Nothing here matches" in await answer.text()


async def test_no_text_in_a_story_becomes_markup() -> None:
    for path in ("/console/trace", f"/console/trace/{ID}", "/console/trace?of=%3Cscript%3Ealert(1)%3C/script%3E"):
        html = await shown(path, shelf(message(text=EVIL), kept=trail(EVIL)))
        assert EVIL not in html
        assert html.count("<script") == 1


async def test_runs_approvals_and_deliveries_lead_to_their_stories() -> None:
    store = await crowd()
    store.asked, store.ran, store.sent = [approval("a1")], [run("r1")], [delivery("d1")]
    for path, about in (("/console/runs/r1", "r1"), ("/console/approvals", "a1"), ("/console/outbox/d1", "d1")):
        assert f'href="/console/trace/{about}"' in await page(store, path)
