"""The pages of the console: whole, safe, and in words."""

from __future__ import annotations

import re
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from yarl import URL

from bot.console.overview.page import COUNT_WORDS
from bot.console.routes import console_routes
from bot.console.trace_page import _coded
from bot.node.lock import Control
from bot.operator.client import Gone, connected
from runtime.contract import ApprovalKind, Choice
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.errors import BotError
from runtime.store.operations.operators import COUNTED
from tests.unit.bot.fake_store import ROOM, TOKEN, approval, context_of, crowd, delivery, run
from tests.unit.bot.operator.console import EVIL, PAGES, as_person, client, page, serving


@pytest.mark.parametrize("path", [*PAGES, "/console/runs/r1", "/console/outbox/d1"])
async def test_no_text_of_people_or_tools_becomes_markup(path: str) -> None:
    store = await crowd()
    store.asked = [
        approval("a1", tool=EVIL, arguments=EVIL, caution=EVIL),
        approval("a2", ApprovalState.DENIED, tool=EVIL, arguments=EVIL, reason=EVIL, decided_name=EVIL),
    ]
    store.sent = [delivery(text=EVIL)]
    store.ran = [run(words=EVIL)]
    html = await page(store, path)
    assert EVIL not in html
    assert "<b>output" not in html
    assert "style=" not in html
    assert "onclick" not in html
    assert html.count("<script") == 1


async def test_a_cut_off_call_is_asked_about_in_words() -> None:
    store = await crowd()
    store.asked = [
        approval("a1", kind=ApprovalKind.OUTCOME),
        approval("a2", ApprovalState.ANSWERED, kind=ApprovalKind.OUTCOME, choice=Choice.DONE),
    ]
    html = await page(store, "/console/approvals")
    assert html.count("shell was cut off. Did it finish?") == 2
    assert "It was done</span>" in html


AT = datetime(2026, 3, 1, tzinfo=UTC)


async def test_open_questions_stand_oldest_first_and_are_narrowed_to_a_room_and_a_person() -> None:
    store = await crowd()
    other = replace(ROOM, room="r000002")
    store.asked = [
        replace(approval("a1"), requester_name="Bob", asked_at=AT + timedelta(minutes=2)),
        replace(approval("a2"), requester_name="Ann", asked_at=AT + timedelta(minutes=1), address=other),
        replace(approval("a3"), requester_name="Ann", asked_at=AT),
    ]

    def shown(html: str) -> list[str]:
        return [found[1] for found in re.finditer(r'action="/console/api/approvals/(\w+)"', html)]

    everything = await page(store, "/console/approvals")
    assert shown(everything) == ["a3", "a2", "a1"]
    assert '<option value="Ann">Ann</option>' in everything
    assert shown(await page(store, "/console/approvals?person=Ann")) == ["a3", "a2"]
    assert shown(await page(store, f"/console/approvals?room={ROOM}&person=Ann")) == ["a3"]
    gone = await page(store, "/console/approvals?person=Zoe")
    assert "Nothing matching is waiting for you." in gone
    assert '<option value="Zoe" selected>Zoe</option>' in gone
    async with client(store) as api:
        assert [row["id"] for row in await api.approvals("pending", order="oldest")] == ["a3", "a2", "a1"]
        assert [row["id"] for row in await api.approvals("pending", person="ann")] == ["a2", "a3"]
        with pytest.raises(BotError, match="isn't a sort order"):
            await api.approvals(order="sideways")


async def test_a_conversation_of_the_page_is_called_and_found_by_its_first_words() -> None:
    store = await crowd()
    store.title, store.ran = "list the files", [run()]
    async with client(store) as api:
        [row] = await api.runs()
        assert (row["room"], row["address"]) == ("list the files (page)", str(ROOM))
        assert [one["id"] for one in await api.runs(room=row["room"])] == ["r1"]
        assert [one["id"] for one in await api.runs(room="List the files")] == ["r1"]


async def test_the_overview_shows_counts_and_what_waits() -> None:
    store = await crowd()
    store.asked = [approval()]
    html = await page(store, "/console")
    assert "open question" in html
    assert 'action="/console/api/approvals/a1"' in html
    assert "demo &lt;b&gt;" in html


def test_every_count_of_the_store_has_words() -> None:
    counted = {f"{name}.{state}" for name, _, states in COUNTED for state in states}
    assert counted | {"runs.suspect"} == COUNT_WORDS.keys()


async def test_the_outbox_offers_what_its_states_allow() -> None:
    store = await crowd()
    store.sent = [delivery("d1"), delivery("d2", DeliveryState.SHOWN)]
    html = await page(store, "/console/outbox")
    assert "/deliveries/d1/requeue" in html
    assert "/deliveries/d1/discard" in html
    assert "/deliveries/d2/" not in html


async def test_a_delivery_is_shown_without_the_marks_of_its_text() -> None:
    store = await crowd()
    store.sent = [delivery(text="**Ready**\n\n- `tea.txt` <b>")]
    html = await page(store, "/console/outbox/d1")
    assert "Ready" in html
    assert "tea.txt &lt;b&gt;" in html
    assert "**" not in html
    assert "`" not in html


async def test_a_run_that_is_not_there_is_a_page_that_says_so() -> None:
    async with serving(await crowd()) as browser, browser.get("/console/runs/nope", **as_person("ada")) as answer:
        assert answer.status == 404
        assert "There is no run nope" in await answer.text()


@pytest.mark.parametrize(("name", "status"), [("console.css", 200), ("console.js", 200), ("..%2Fpages.py", 404)])
async def test_only_the_consoles_own_files_are_served(name: str, status: int) -> None:
    async with serving(await crowd()) as browser, browser.get(f"/console/static/{name}") as answer:
        assert answer.status == status


async def test_a_process_that_is_gone_is_told_in_words() -> None:
    async with connected(Control("http://127.0.0.1:9", TOKEN, 77)) as api:
        with pytest.raises(Gone, match=r"process \(77\) does not answer"):
            await api.people()


async def test_a_process_that_stands_still_is_told_in_words() -> None:
    """It takes the connection and never answers: a time that ran out has no words of its own."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with connected(Control(url, TOKEN, 77)) as api:
            with pytest.raises(Gone, match=r"process \(77\) does not answer: no reply in time\."):
                await api._answer("GET", URL(url), within=timedelta(seconds=0.05))


async def test_the_console_needs_a_token() -> None:
    with pytest.raises(ValueError, match="control token"):
        console_routes(context_of(await crowd(), token=""))


def test_what_stands_in_backticks_is_code_on_the_page_of_traces() -> None:
    assert "".join(_coded("see `signalbox <x>` now")) == "see <code>signalbox &lt;x&gt;</code> now"
