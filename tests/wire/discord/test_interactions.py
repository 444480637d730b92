"""Buttons, forms and commands over the wire: stored first, answered within 3 s, once."""

from __future__ import annotations

import json
import logging

import pytest

from adapters.discord.interactions import commands
from runtime.contract import REASON, TOO_LONG, Addressing, Choice, Clicked, Commanded, Said, Stopped
from tests.contract.adapters.stage import until
from tests.fakes.discord_faults import Do
from tests.fakes.discord_world import GENERAL, Record
from tests.wire.discord.stage import APPROVAL, BUTTONS, On


async def answers(on: On, done: Record) -> list[Record]:
    """What the interaction was answered, once it was."""
    found: list[Record] = []

    async def told() -> bool:
        found[:] = (await on.driver.screen()).answers(done["id"])
        return bool(found)

    await until(told, "answer")
    return found


async def test_a_press_without_a_word_is_acknowledged_in_silence(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        done = await on.driver.click(receipt.message_id, f"{APPROVAL}:approve")
        [answer] = await answers(on, done)
        assert (answer["type"], answer["text"]) == (6, "")


async def test_a_private_word_is_seen_by_one_person_alone(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        on.sink.notice = "That question is already answered."
        done = await on.driver.click(receipt.message_id, f"{APPROVAL}:approve", user="43")
        [answer] = await answers(on, done)
        assert (answer["private"], answer["user"], answer["text"]) == (True, "43", on.sink.notice)
        assert await on.texts() == ["May I?"]


async def test_a_denial_may_have_a_reason(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        opened = await on.driver.click(receipt.message_id, f"{APPROVAL}:reason")
        [answer] = await answers(on, opened)
        form = json.loads(answer["text"])
        assert answer["type"] == 9
        assert on.sink.calls == [], "to open the form decides nothing"
        sent = await on.driver.do(
            "submit", message=receipt.message_id, custom_id=form["custom_id"], values={REASON: " not on a Friday "}
        )
        await answers(on, sent)
        assert on.sink.clicks == [Clicked(APPROVAL, Choice.DENY, "not on a Friday")]


async def test_a_form_is_opened_and_what_was_typed_into_it_is_one_signal(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        [answer] = await answers(on, await on.driver.click(receipt.message_id, f"{APPROVAL}:edit"))
        form = json.loads(answer["text"])
        [[field]] = [row["components"] for row in form["components"]]
        assert (form["title"], field["label"], field["value"]) == (
            "Edit the call",
            "The changed command",
            "make deploy",
        )
        assert on.stage.forms.asked == [(APPROVAL, Choice.EDIT, "discord:42")]
        assert on.sink.calls == [], "to open the form decides nothing"
        on.sink.notice = "It must be an object."
        values = {field["custom_id"]: "make test"}
        sent = await on.driver.do("submit", message=receipt.message_id, custom_id=form["custom_id"], values=values)
        [told] = await answers(on, sent)
        assert on.sink.clicks == [Clicked(APPROVAL, Choice.EDIT, "", {"argument": "make test"})]
        assert (told["private"], told["text"]) == (True, on.sink.notice)


@pytest.mark.parametrize(
    ("words", "text", "told"), [("Only approvers.", "", "Only approvers."), ("", "x" * 4001, TOO_LONG)]
)
async def test_why_there_is_no_form_is_told_in_private(on: On, words: str, text: str, told: str) -> None:
    on.stage.forms.words, on.stage.forms.text = words, text
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        [answer] = await answers(on, await on.driver.click(receipt.message_id, f"{APPROVAL}:edit"))
        assert (answer["type"], answer["private"], answer["text"]) == (4, True, told)
        assert on.sink.calls == []


async def test_buttons_outlive_the_process(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
    async with on.life():
        await on.driver.click(receipt.message_id, f"{APPROVAL}:deny")
        await until(lambda: on.sink.clicks == [Clicked(APPROVAL, Choice.DENY)], "click")


@pytest.mark.parametrize("custom_id", ["nonsense", "a:allow", ":approve"])
async def test_a_button_that_is_not_ours_is_answered_and_nothing_comes_of_it(on: On, custom_id: str) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("May I?", *BUTTONS))
        [answer] = await answers(on, await on.driver.click(receipt.message_id, custom_id))
        assert "don't know" in answer["text"]
        assert on.sink.calls == []


@pytest.mark.parametrize("channel", ["dm", GENERAL])
async def test_commands_are_signals_with_a_private_answer(on: On, channel: str) -> None:
    async with on.life():
        done = [await on.driver.command(name, channel=channel) for name in ("status", "stop")]
        asked = await on.driver.command("ask", channel=channel, text="what is up?")
        await until(lambda: len(on.sink.taken) == 3, "signals")
        bodies = [signal.body for signal in on.sink.taken]
        assert bodies == [Commanded("status"), Stopped(), Said("what is up?")]
        reach = Addressing.DIRECT if channel == "dm" else Addressing.MENTION
        assert {signal.reach for signal in on.sink.taken} == {reach}
        assert [answer["text"] for answer in await answers(on, asked)] == ["You asked: what is up?"]
        for one in done:
            assert [(answer["type"], answer["private"]) for answer in await answers(on, one)] == [(4, True)]


@pytest.mark.parametrize("channel", ["dm", GENERAL, "thread"])
async def test_the_number_of_a_channel_is_enough(on: On, channel: str) -> None:
    """Discord need not tell more of it, and recorded interactions do not."""
    await on.driver.set(terse=True)
    if channel == "thread":
        on.fake.world.open_thread(GENERAL, "751", "ours", owner="42")
    async with on.life():
        done = await on.driver.command("ask", channel="751" if channel == "thread" else channel, text="who is there?")
        assert [answer["text"] for answer in await answers(on, done)] == ["You asked: who is there?"]
        [signal] = on.sink.taken
        assert (signal.address.room, signal.address.thread) == (
            ("942", "") if channel == "dm" else (GENERAL, "751" if channel == "thread" else "")
        )


async def test_an_answer_that_was_applied_and_lost_is_not_given_twice(on: On, caplog: pytest.LogCaptureFixture) -> None:
    """Given again it is refused as a repeat (40060), and that is success."""
    async with on.life():
        for do in (Do.CUT_AFTER, Do.ERROR_AFTER):
            await on.driver.fault(do, on="callback")
            done = await on.driver.command("status")
            assert len(await answers(on, done)) == 1
        await on.driver.say("after it")
        await on.stage.taken("after it")
    assert "not answered" not in caplog.text


async def test_an_answer_that_was_lost_before_it_was_applied_is_given_again(on: On) -> None:
    async with on.life():
        for do in (Do.CUT_BEFORE, Do.ERROR):
            await on.driver.fault(do, on="callback")
            assert len(await answers(on, await on.driver.command("status"))) == 1


async def test_what_came_too_late_to_be_answered_counts_all_the_same(on: On, caplog: pytest.LogCaptureFixture) -> None:
    await on.driver.set(patience=0.05)
    with caplog.at_level(logging.INFO, "adapters.discord"):
        async with on.life():
            on.sink.away = 10
            done = await on.driver.command("status")
            await until(lambda: len(on.sink.taken) == 1, "signal")
            await until(lambda: "too late" in caplog.text, "word of it")
            assert (await on.driver.screen()).answers(done["id"]) == []


async def test_an_answer_that_is_refused_is_told_in_the_log(on: On, caplog: pytest.LogCaptureFixture) -> None:
    async with on.life():
        await on.driver.fault(Do.FORBIDDEN, on="callback")
        await on.driver.command("status")
        await until(lambda: "was not answered" in caplog.text, "word of it")


# ------------------------------------------------------------------------------------------------------ commands


async def test_the_commands_are_registered_once(on: On) -> None:
    for _ in range(2):
        async with on.life():
            await until(lambda: len(on.fake.rest.commands) == len(commands()), "commands")
    assert [command["name"] for command in on.fake.rest.commands][:2] == ["ask", "help"]
    assert on.fake.rest.registrations == 1


async def test_commands_that_cannot_be_registered_are_told_and_words_still_work(
    on: On, caplog: pytest.LogCaptureFixture
) -> None:
    on.fake.faults.add({"do": "forbidden", "on": "commands"})
    async with on.life():
        await until(lambda: "commands are not registered" in caplog.text, "word of it")
        await on.driver.say("!status")
        await on.stage.taken("!status")
