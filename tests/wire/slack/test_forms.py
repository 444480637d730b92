"""Forms as modals: opened by a press, sent as one signal, and kept open while something in them is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import TOO_LONG, ApprovalId, Button, Choice, Clicked, Field
from tests.contract.adapters.stage import until
from tests.wire.slack.stage import THREAD, Workspace, part

APPROVAL = ApprovalId("A" * 22)
CARD = (Button(APPROVAL, Choice.APPROVE, "Approve"), Button(APPROVAL, Choice.DENY, "Deny"))
EDIT = Button(APPROVAL, Choice.EDIT, "Edit…")
SENT = [["argument", "argument", "make test"]]


async def opened(on: Workspace, ts: str) -> dict[str, Any]:
    """The modal behind the button."""
    await on.driver.do("click", channel="C1", ts=ts, value=f"{APPROVAL}:edit")
    screen = await on.seen(lambda screen: bool(screen.raw["views"]), "the form")
    view: dict[str, Any] = screen.raw["views"][-1]
    return view


async def test_a_press_opens_the_form_and_sending_it_is_one_signal(on: Workspace) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD, EDIT, address=THREAD))
        view = await opened(on, receipt.message_id)
        note, block = view["blocks"]
        assert (view["title"]["text"], view["submit"]["text"]) == ("Edit the call", "Run it")
        assert note["text"]["text"] == "It runs exactly as you write it."
        assert (block["label"]["text"], block["element"]["initial_value"]) == ("The changed command", "make deploy")
        assert on.forms.asked == [(APPROVAL, Choice.EDIT, "slack:T1/U1")]
        assert on.sink.calls == [], "to open the form decides nothing"
        told = await on.driver.do("submit", view=view, values=SENT)
        [signal] = await on.taken()
        assert signal.body == Clicked(APPROVAL, Choice.EDIT, "", {"argument": "make test"})
        assert signal.address == THREAD
        await on.driver.do("again", event=told["id"])
        await on.driver.say("after it")
        await on.taken(2)
        assert len(on.sink.clicks) == 1


async def test_what_is_wrong_is_said_in_the_form_which_stays_and_can_be_sent_again(on: Workspace) -> None:
    on.sink.notice, on.sink.form_stays = "It must be an object.", True
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD, EDIT, address=THREAD))
        view = await opened(on, receipt.message_id)
        told = await on.driver.do("submit", view=view, values=SENT)
        await until(lambda: on.acked(told), "acknowledgement")
        wrong = {"response_action": "errors", "errors": {"argument": "It must be an object."}}
        assert (await on.screen()).raw["acked"][told["id"]] == wrong
        on.sink.notice, on.sink.form_stays = None, False
        await on.driver.do("submit", view=view, values=[["argument", "argument", "make all"]])
        await on.taken(2)
        assert [click.values["argument"] for click in on.sink.clicks] == ["make test", "make all"]
        assert (await on.screen()).notices == []


@pytest.mark.parametrize(
    ("words", "text", "told"), [("Only approvers.", "", "Only approvers."), ("", "x" * 3001, TOO_LONG)]
)
async def test_why_there_is_no_form_is_told_in_private(on: Workspace, words: str, text: str, told: str) -> None:
    on.forms.words, on.forms.text = words, text
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD, EDIT, address=THREAD))
        await on.driver.do("click", channel="C1", ts=receipt.message_id, value=f"{APPROVAL}:edit")
        screen = await on.seen(lambda screen: bool(screen.notices), "the word")
        [notice] = screen.notices
        assert (notice["user"], notice["text"], screen.raw["views"]) == ("U1", told, [])


async def test_one_of_several_options_is_picked(on: Workspace) -> None:
    on.forms.fields = (Field("where", "Where", "here", options=("here", "everywhere")),)
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD, EDIT, address=THREAD))
        view = await opened(on, receipt.message_id)
        element = view["blocks"][1]["element"]
        assert [one["value"] for one in element["options"]] == ["here", "everywhere"]
        assert element["initial_option"]["value"] == "here"
