"""The console: who may come in, and what operators do about questions and deliveries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.node.login import command_line
from runtime.chat.cards.exchanges import with_answer, with_question
from runtime.contract import Address, ApprovalId, Choice, Clicked
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.http.errors import Refusal
from runtime.policy.modes import Mode, RoomMode
from runtime.policy.terms import Terms
from tests.unit.bot.fake_store import NOW, ROOM, TOKEN, approval, crowd, delivery
from tests.unit.bot.operator.console import PAGES, as_person, client, same_site, serving

# ------------------------------------------------------------------------------------------------------ who may come in


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
    assert "<strong>Ada asked:</strong> What &lt;for&gt;?" in page
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
