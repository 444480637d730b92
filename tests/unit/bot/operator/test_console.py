"""The console's API and pages, over HTTP, behind the real guard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.console.pages import COUNT_WORDS
from bot.console.routes import console_routes
from bot.console.trace_page import _coded
from bot.node.lock import Control
from bot.node.login import command_line, login, sender
from bot.operator.client import Client, Gone, connected
from runtime.chat.cards.exchanges import with_answer, with_question
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address, ApprovalId, ApprovalKind, Author, Choice, Clicked, Entry, View, room_topic
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState
from runtime.errors import BotError
from runtime.http.authentication import Authenticator
from runtime.http.errors import Refusal
from runtime.http.guard import install
from runtime.policy.modes import Mode, RoomMode
from runtime.policy.terms import Terms
from runtime.store.operations.operators import COUNTED
from runtime.store.protocol import RoomWork
from tests.unit.bot.fake_store import (
    CODE,
    NOW,
    ROOM,
    TOKEN,
    FakeStore,
    approval,
    context_of,
    crowd,
    delivery,
    pairing,
    run,
)

EVIL = "<script>alert(1)</script>"
Browser = TestClient[web.Request, web.Application]


@asynccontextmanager
async def serving(
    store: FakeStore, notifier: LocalNotifier | None = None, nudged: list[Address] | None = None
) -> AsyncIterator[Browser]:
    site = web.Application()
    install(site, [])
    site.add_routes(console_routes(context_of(store, notifier, nudged)))
    async with TestClient(TestServer(site)) as browser:
        yield browser


@asynccontextmanager
async def client(
    store: FakeStore, *, notifier: LocalNotifier | None = None, nudged: list[Address] | None = None
) -> AsyncIterator[Client]:
    async with serving(store, notifier, nudged) as browser:
        url = str(browser.make_url("")).rstrip("/")
        async with connected(Control(url, TOKEN, 1)) as made:
            yield made


def as_person(name: str) -> dict[str, Any]:
    """The cookie of a person, as the page sets it."""
    cookie = Authenticator(links=FakeStore(), identity="w1").cookie
    return {"cookies": {cookie: f"link-of-{name}"}}


def same_site(browser: Browser) -> dict[str, str]:
    return {"Origin": str(browser.make_url("")).rstrip("/"), "Sec-Fetch-Site": "same-origin"}


# ------------------------------------------------------------------------------------------------------ who may come in

PAGES = ["/console", "/console/approvals", "/console/runs", "/console/outbox", "/console/people", "/console/trace"]


@pytest.mark.parametrize(
    "path",
    [
        *PAGES,
        "/console/api/runs",
        "/console/api/people",
        "/console/api/audit",
        "/console/api/audit/rows",
        "/console/api/trace",
    ],
)
@pytest.mark.parametrize(("name", "status"), [("ada", 200), ("oscar", 200), ("uma", 403), ("nobody", 401)])
async def test_only_operators_come_in(path: str, name: str, status: int) -> None:
    async with serving(await crowd()) as browser, browser.get(path, **as_person(name)) as answer:
        assert answer.status == status


async def test_a_slash_behind_the_console_leads_there() -> None:
    async with (
        serving(await crowd()) as browser,
        browser.get("/console/", allow_redirects=False, **as_person("ada")) as answer,
    ):
        assert (answer.status, answer.headers["Location"]) == (308, "/console")


@pytest.mark.parametrize("shown", ["Bearer", "Bearer ", "Bearer wrong", TOKEN, f"Bearer {TOKEN}é", ""])
async def test_another_token_is_refused(shown: str) -> None:
    async with serving(await crowd()) as browser:
        headers = {"Authorization": shown}
        async with browser.get("/console/api/runs", headers=headers, **as_person("ada")) as answer:
            assert answer.status == 401


async def test_a_page_elsewhere_cannot_use_the_cookie() -> None:
    store = await crowd()
    store.asked = [approval()]
    async with serving(store) as browser:
        headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        sent = browser.post(
            "/console/api/approvals/a1", json={"choice": "approve"}, headers=headers, **as_person("ada")
        )
        async with sent as answer:
            assert answer.status == 403
    assert store.signals == []


async def test_an_operator_cannot_change_people() -> None:
    store = await crowd()
    async with serving(store) as browser:
        for path, fields in (("/people/ada/link", {}), ("/people/oscar/role", {"role": "owner"})):
            sent = browser.post(f"/console/api{path}", json=fields, headers=same_site(browser), **as_person("oscar"))
            async with sent as answer:
                assert answer.status == 403
    assert store.links["link-of-ada"] == "ada"


# --------------------------------------------------------------------------------------------------------- approvals


async def test_a_decision_is_a_click_of_the_owner_from_the_console() -> None:
    store = await crowd()
    store.asked = [approval()]
    async with client(store) as api:
        made = await api.decide("a1", "deny", "not today")
    assert (made["state"], made["reason"]) == ("denied", "not today")
    [signal] = store.signals
    assert signal.console
    assert (signal.actor, signal.address, signal.platform) == ("web:p0", ROOM, "w1")


async def test_an_operators_click_carries_their_own_name() -> None:
    store = await crowd()
    store.asked = [approval()]
    async with serving(store) as browser:
        fields = {"choice": "approve", "reason": ""}
        sent = browser.post("/console/api/approvals/a1", json=fields, headers=same_site(browser), **as_person("oscar"))
        async with sent as answer:
            assert answer.status == 200
    assert store.signals[0].actor_name == "oscar"


async def test_a_changed_call_is_a_click_with_what_was_typed() -> None:
    store = await crowd()
    store.asked = [approval()]
    async with client(store) as api:
        await api.edit("a1", '{"command": "ls"}')
    [signal] = store.signals
    assert signal.console
    assert signal.body == Clicked(ApprovalId("a1"), Choice.EDIT, "", {"arguments": '{"command": "ls"}'})


async def test_a_question_to_the_agent_is_a_click_with_the_question() -> None:
    store = await crowd()
    store.asked = [approval()]
    async with client(store) as api:
        await api.ask_back("a1", "What for?")
    [signal] = store.signals
    assert signal.console
    assert signal.body == Clicked(ApprovalId("a1"), Choice.WHY, "", {"question": "What for?"})


async def test_questions_and_answers_stand_in_full_on_the_console() -> None:
    card, made = with_question("", "Ada", "What <for>?")
    card, failed = with_question(with_answer(card, made.number, "**Because**\u202e.\n" + "x" * 2_000), "Otto", "And?")
    store = await crowd()
    store.asked = [replace(approval(), card=with_answer(card, failed.number, "", "the model is away."))]
    async with serving(store) as browser, browser.get("/console/approvals", **as_person("oscar")) as answer:
        page = await answer.text()
    assert "<strong>Ada asked: </strong>What &lt;for&gt;?" in page
    assert f"<p>**Because**⟨U+202E⟩.</p><p>{'x' * 2_000}</p>" in page
    assert "No answer: the model is away." in page
    assert "/console/api/approvals/a1/ask" in page


async def test_a_question_for_several_people_shows_the_votes_so_far() -> None:
    store = await crowd()
    store.asked = [replace(approval(), terms=Terms(quorum=2))]
    async with serving(store) as browser, browser.get("/console/approvals", **as_person("oscar")) as answer:
        assert "<p>ada approved: 1 of 2.</p>" in await answer.text()
    store.asked = [approval()]
    async with serving(store) as browser, browser.get("/console/approvals", **as_person("oscar")) as answer:
        assert "approved:" not in await answer.text()


async def test_a_call_that_was_changed_meanwhile_is_looked_at_again() -> None:
    store = await crowd()
    store.asked = [replace(approval(), asked_arguments='{"command": "id"}', card='{"edits": 1}')]
    async with client(store) as api:
        with pytest.raises(Refusal, match=r"changed in the meantime\. Look at it again, and answer a1~1\."):
            await api.decide("a1", "approve")
    assert store.signals == []


async def test_a_late_click_is_told_why_it_changed_nothing() -> None:
    store = await crowd()
    store.asked = [approval(state=ApprovalState.DENIED)]
    async with client(store) as api:
        with pytest.raises(Refusal, match="already settled"):
            await api.decide("a1", "approve")
        with pytest.raises(Refusal, match="There is no approval nope"):
            await api.decide("nope", "approve")
        with pytest.raises(Refusal, match="This question takes approve"):
            await api.decide("a1", "perhaps")


# ------------------------------------------------------------------------------------------------------------ outbox


async def test_requeue_and_discard_name_who_did_it_and_wake_the_courier() -> None:
    store, nudged = await crowd(), list[Address]()
    store.sent = [delivery("d1"), delivery("d2", DeliveryState.DEAD), delivery("d3", DeliveryState.SHOWN)]
    async with client(store, nudged=nudged) as api:
        assert (await api.requeue("d1"))["state"] == "open"
        assert (await api.discard("d2"))["state"] == "discarded"
        for refused in (api.requeue("d3"), api.requeue("d1"), api.discard("nope")):
            with pytest.raises(Refusal, match=r"can't be|There is no delivery nope"):
                await refused
    here = command_line()
    assert store.mended == [("d1", "open", here), ("d2", "discarded", here)]
    assert nudged == [ROOM, ROOM]


async def test_an_operator_sets_the_mode_of_a_room_from_afar_and_sees_those_that_are_set() -> None:
    store, nudged = await crowd(), list[Address]()
    async with client(store, nudged=nudged) as api:
        made = await api.set_mode(str(ROOM), "read-only")
        assert (made["mode"], made["meaning"]) == ("read-only", "read-only: I look things up, and change nothing")
        assert await api.modes() == [made]
        for room, mode in ((str(ROOM), "trusted"), ("", "plan"), (str(ROOM), "yolo")):
            with pytest.raises(Refusal, match=r"Name a room, and one of the modes|isn't one of"):
                await api.set_mode(room, mode)
    assert (made["set_by"], nudged) == (command_line(), [ROOM])


async def test_the_overview_names_modes_that_are_not_the_usual_one() -> None:
    store = await crowd()
    async with serving(store) as browser:
        before = await (await browser.get("/console", **as_person("ada"))).text()
        store.moded[ROOM] = RoomMode(Mode.PLAN, set_by_name="Ada", set_at=NOW)
        after = await (await browser.get("/console", **as_person("ada"))).text()
    assert "<h2>Modes</h2>" not in before
    assert "plan: I ask once about everything I want to change" in after


async def test_lists_are_narrowed_to_a_state() -> None:
    store = await crowd()
    store.sent = [delivery("d1"), delivery("d2", DeliveryState.SHOWN)]
    async with client(store) as api:
        assert [row["id"] for row in await api.deliveries("held")] == ["d1"]
        assert len(await api.deliveries()) == 2
        with pytest.raises(Refusal, match="isn't one of: queued"):
            await api.deliveries("lost")


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=x", "limit=9999999", "limit=²"])
async def test_a_limit_that_is_no_number_is_refused(query: str) -> None:
    async with (
        serving(await crowd()) as browser,
        browser.get(f"/console/api/runs?{query}", **as_person("ada")) as answer,
    ):
        assert answer.status == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b'{"choice": 1}', b'{"choice": "approve", "reason": 3}']
)
async def test_a_body_that_is_not_what_it_should_be_is_refused(body: bytes) -> None:
    store = await crowd()
    store.asked = [approval()]
    async with serving(store) as browser:
        headers = {**same_site(browser), "Content-Type": "application/json"}
        sent = browser.post("/console/api/approvals/a1", data=body, headers=headers, **as_person("ada"))
        async with sent as answer:
            assert answer.status == 400
            assert "error" in await answer.json()
    assert store.signals == []


# ------------------------------------------------------------------------------------------------------------ people


async def test_people_are_added_promoted_and_linked() -> None:
    store = await crowd()
    async with client(store) as api:
        made = await api.add_person("Zoë", "user", ["telegram:7"])
        assert made["identities"][0] == "telegram:7"
        assert (await api.set_role("Zoë", "operator"))["role"] == "operator"
        link = await api.link("Zoë")
        assert link["url"].endswith(link["path"])
        assert store.links[link["path"].removeprefix("/link/")] == "Zoë"
        assert [row["name"] for row in await api.people()] == ["Zoë", "ada", "oscar", "uma"]


async def test_who_changed_people_is_told_to_the_audit() -> None:
    """The holder of the control token has the owner's rights, and not the owner's name."""
    store, here = await crowd(), command_line(login())
    store.unpaired, store.actors = [pairing()], []
    async with client(store) as api:
        await api.add_person("Zoë", "user")
        await api.set_role("Zoë", "viewer")
        await api.link("Zoë")
        await api.pair(CODE)
    assert store.actors == [here] * 4
    async with serving(store) as browser:
        sent = browser.post(
            "/console/api/people/Zo%C3%AB/role", json={"role": "user"}, headers=same_site(browser), **as_person("ada")
        )
        async with sent as answer:
            assert answer.status == 200
    assert store.actors[4:] == ["ada"]


async def test_a_login_that_is_none_is_somebodys() -> None:
    assert [sender(given) for given in (None, "", "%00", "a%0Ab", "x" * 999)] == [
        *["command line of somebody"] * 4,
        f"command line of {'x' * 64}",
    ]


async def test_mistakes_about_people_are_told() -> None:
    async with client(await crowd()) as api:
        for mistake, words in (
            (api.add_person("ada", "user"), "is already taken"),
            (api.add_person("new", "king"), "is not a role"),
            (api.add_person("new", "user", ["nonsense"]), "is not an identity"),
            (api.add_person(" ", "user"), "^Write a name.$"),
            (api.add_person("Ada\u3164", "user"), r"Ada⟨U\+3164⟩.*invisible characters"),
            (api.add_person("A" * 101, "user"), "at most 100 characters, and this one has 101"),
            (api.pair(CODE, "Ada\u3164"), r"Ada⟨U\+3164⟩.*invisible characters"),
            (api.set_role("none", "user"), "nobody named"),
            (api.link("none"), "nobody named"),
            (api.set_role("ada", "user"), "the only owner"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake


async def test_a_pairing_code_makes_whoever_was_sent_it_known() -> None:
    """Scenario 8: and the courier of their room is woken, to tell them."""
    store, nudged = await crowd(), list[Address]()
    store.unpaired = [pairing()]
    async with client(store, nudged=nudged) as api:
        assert [row["identity"] for row in await api.pairings()] == ["telegram:1001"]
        made = await api.pair(CODE)
    assert made["told"] == "Paired: telegram:1001 is now Sam (user)."
    assert (made["name"], made["role"]) == ("Sam", "user")
    assert nudged == [Address("telegram", "77", "1001")]


async def test_mistakes_about_pairing_are_told() -> None:
    async with client(await crowd()) as api:
        for mistake, words in (
            (api.pair("WRONG"), "You have 4 more tries"),
            (api.pair(CODE, "new", "king"), "is not a role"),
            (api.pair(CODE, "ada", "user"), "the only owner"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake


async def test_only_owners_enter_pairing_codes() -> None:
    store = await crowd()
    store.unpaired = [pairing()]
    async with serving(store) as browser:
        sent = browser.post(
            "/console/api/pairings", json={"code": CODE}, headers=same_site(browser), **as_person("oscar")
        )
        async with sent as answer:
            assert answer.status == 403
    assert len(store.unpaired) == 1


async def test_the_page_of_people_shows_who_waits_and_never_a_code() -> None:
    store = await crowd()
    store.unpaired = [pairing(EVIL)]
    html = await page(store, "/console/people")
    assert "telegram:1001" in html
    assert 'action="/console/api/pairings"' in html
    assert EVIL not in html
    assert CODE not in html


# ------------------------------------------------------------------------------------------------------------- rooms


async def test_what_is_said_comes_in_as_the_owners_words() -> None:
    store = await crowd()
    async with client(store) as api:
        await api.say("room01", "hello", "abcdefgh")
    [signal] = store.signals
    assert (signal.address, signal.actor, signal.dedupe_key) == (ROOM, "web:p0", "console:web:p0#abcdefgh")
    assert not signal.console


@pytest.mark.parametrize("text", ["", "  \n", "x" * 100_001, "x" * 5_000_000])
async def test_a_message_that_is_empty_or_too_long_is_refused(text: str) -> None:
    store = await crowd()
    async with client(store) as api:
        with pytest.raises(Refusal, match=r"empty|too long"):
            await api.say("room01", text, "abcdefgh")
    assert store.signals == []


async def test_a_wait_ends_with_the_ring_of_its_room() -> None:
    store, notifier = await crowd(), LocalNotifier()
    async with client(store, notifier=notifier) as api:
        before = await api.room("room01")
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(api.change("room01", before["version"]))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            store.said.append(Entry("d1.1", Author.AGENT, "", NOW, "hi"))
            notifier.notify(room_topic(ROOM))
        assert [entry["text"] for entry in waiting.result()["entries"]] == ["hi"]


async def test_a_wait_for_what_has_changed_already_ends_at_once() -> None:
    async with client(await crowd()) as api:
        assert (await api.change("room01", "older"))["entries"] == []


async def test_a_room_tells_the_questions_that_wait_in_it() -> None:
    store = await crowd()
    store.asked = [approval("here"), approval("there", address=Address("web", "w1", "room02"))]
    store.ran = [run()]
    async with client(store) as api:
        view = await api.room("room01")
    assert [row["id"] for row in view["approvals"]] == ["here"]
    assert view["approvals"][0]["choices"] == {"approve": "Approve", "deny": "Deny"}
    assert view["run"] == "done"


class Asking(FakeStore):
    """Parks with a question right after whatever is read first."""

    async def view(self, address: Address, *, before: datetime | None = None, limit: int = 200) -> View:
        seen = await super().view(address)
        self._park()
        return seen

    async def room_work(self, address: Address) -> RoomWork:
        work = await super().room_work(address)
        self._park()
        return work

    def _park(self) -> None:
        self.working, self.asked, self.ran = False, [approval()], [run(state=RunState.PARKED)]


async def test_a_question_that_is_asked_while_a_room_is_read_is_not_missed() -> None:
    """Whoever waits for the room to rest would go on without it."""
    crew = await crowd()
    store = Asking(known=crew.known, links=crew.links, ran=[run(state=RunState.RUNNING)], working=True)
    async with client(store) as api:
        view = await api.room("room01")
    assert view["busy"] or view["approvals"]


async def test_a_name_that_is_no_room_is_refused() -> None:
    async with client(await crowd()) as api:
        with pytest.raises(Refusal, match="A room's name"):
            await api.room("../x")


# ------------------------------------------------------------------------------------------------------------- pages


async def page(store: FakeStore, path: str) -> str:
    async with serving(store) as browser, browser.get(path, **as_person("ada")) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/html"
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        return await answer.text()


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


async def test_the_console_needs_a_token() -> None:
    with pytest.raises(ValueError, match="control token"):
        console_routes(context_of(await crowd(), token=""))


def test_what_stands_in_backticks_is_code_on_the_page_of_traces() -> None:
    assert "".join(_coded("see `signalbox <x>` now")) == "see <code>signalbox &lt;x&gt;</code> now"
