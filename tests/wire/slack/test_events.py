"""Events over a socket: stored, then acknowledged; and what is said beside."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from adapters.slack.health import Health
from adapters.slack.incoming.socket import Store
from adapters.slack.incoming.socket_mode import Sockets
from adapters.slack.settings import Pace
from adapters.slack.web import Web
from runtime.contract import (
    Address,
    Addressing,
    ApprovalId,
    Button,
    Choice,
    Clicked,
    Commanded,
    Connection,
    Outcome,
    Said,
    SignalId,
    Stopped,
    Verdict,
)
from runtime.errors import Rejected
from tests.contract.adapters.rigs.slack import SHORT
from tests.contract.adapters.stage import until
from tests.wire.slack.stage import DIRECT, DIRECT_THREAD, THREAD, Workspace, part

APPROVAL = ApprovalId("A" * 22)
CARD = (Button(APPROVAL, Choice.APPROVE, "Approve"), Button(APPROVAL, Choice.DENY, "Deny"))
A_WHILE = 0.3  # seconds in which something would have happened that must not


async def test_a_mention_in_a_channel_is_one_signal_of_two_events(on: Workspace) -> None:
    async with on.life():
        await on.driver.mention("hello")
        [signal] = await on.taken()
        assert (signal.body, signal.reach, signal.actor_name) == (Said("hello"), Addressing.MENTION, "Ada")
        assert signal.address.thread == signal.message_id
        await on.seen(lambda screen: len(screen.raw["acked"]) == 2, "both acknowledged")
        assert len(on.sink.taken) == 1
        assert len(on.sink.calls) == 2


async def test_every_delivery_twice_is_each_signal_once(on: Workspace) -> None:
    await on.driver.switch(twice=True)
    async with on.life():
        for number in range(5):
            await on.driver.say(f"{number}")
        await on.taken(5)
        await asyncio.sleep(A_WHILE)
        assert on.sink.texts == ["0", "1", "2", "3", "4"]


async def test_what_the_store_does_not_take_is_not_acknowledged_and_comes_again(on: Workspace) -> None:
    on.sink.away = 2
    async with on.life():
        told = await on.driver.say("hello")
        await on.taken()
        assert len(on.sink.calls) == 3
        await until(lambda: on.acked(told), "acknowledgement")


async def test_an_event_that_no_account_serves_is_acknowledged_and_left(on: Workspace) -> None:
    async def refuses(signal: Any) -> Verdict:
        raise Rejected("no account here serves it")

    adapter = on.adapter()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.listen(refuses))
        await on.connected(adapter)
        told = await on.driver.say("hello")
        await until(lambda: on.acked(told), "acknowledgement")
        task.cancel()


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "event_callback"},
        {"type": "event_callback", "event": "x"},
        {"type": "event_callback", "event_id": "E", "event": {"type": "message", "user": "U1", "text": "no channel"}},
        {"type": "block_actions", "actions": [{"action_id": "signalbox:x"}]},
        {"type": "block_actions", "actions": [{"action_id": "signalbox:x", "value": "a:dance"}], "trigger_id": "1"},
        {"type": "view_submission", "view": {"callback_id": "signalbox:denial", "private_metadata": "no json"}},
        {"type": "event_callback", "event": {"type": "assistant_thread_started"}},
    ],
)
async def test_a_malformed_event_is_left_out_with_a_word(
    on: Workspace, payload: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with on.life():
        told = await on.driver.do("raw", payload={"team_id": "T1", **payload})
        await until(lambda: on.acked(told), "acknowledgement")
        await on.driver.say("still here?")
        await on.taken()
        assert on.sink.texts == ["still here?"]
    said = [record.getMessage() for record in caplog.records]
    assert any('Slack account "work"' in text and "cannot read" in text for text in said)


async def test_messages_of_one_room_are_taken_in_the_order_they_came(on: Workspace) -> None:
    """Also when the first one waits for a name."""
    async with on.life():
        for user in ("U7", "U8", "U7", "U9"):
            await on.driver.say(f"from {user}", channel="C1", user=user)
        await on.taken(4)
        assert on.sink.texts == ["from U7", "from U8", "from U7", "from U9"]


async def test_who_cannot_be_looked_up_goes_by_their_id(on: Workspace) -> None:
    await on.driver.switch(without=["users:read"])
    async with on.life():
        await on.driver.say("hello")
        [signal] = await on.taken()
        assert signal.actor_name == "U1"
        await on.driver.lift()
        await asyncio.sleep(SHORT.name_again.total_seconds())
        await on.driver.say("hello again")
        assert [signal.actor_name for signal in await on.taken(2)] == ["U1", "Ada"]


async def test_other_bots_are_told_as_such_and_we_are_not_told(on: Workspace) -> None:
    async with on.life() as adapter:
        await adapter.show(part(adapter, "my own words", address=THREAD))
        await on.driver.say("beep", channel="C1", user="U9", bot_id="B9")
        [signal] = await on.taken()
        assert (signal.by_bot, signal.body) == (True, Said("beep"))


# ------------------------------------------------------------------------------------------------------- sockets


async def test_a_refresh_opens_the_next_socket_before_the_last_is_closed(on: Workspace) -> None:
    async with on.life() as adapter:
        for number in range(6):
            await on.driver.say(f"{number}")
            if number % 2:
                await on.driver.sockets("refresh", close=False)
        await on.taken(6)
        assert sorted(on.sink.texts) == ["0", "1", "2", "3", "4", "5"]
        assert adapter.standing().connection is Connection.CONNECTED
        await until(
            lambda: len(on.slack.delivery.links) == 1 and on.slack.delivery.opened == 4, "one socket, the fourth"
        )
        assert all(event in on.slack.board.acked for event in on.slack.board.events)


async def test_whoever_leaves_while_a_socket_is_being_closed_leaves_no_other_open(on: Workspace) -> None:
    async with on.life():
        on.sink.open.clear()  # the first socket waits for what is being stored
        await on.driver.say("slow")
        await until(lambda: len(on.sink.calls) == 1, "a message that is being stored")
        await on.driver.sockets("refresh", close=False)
        await until(lambda: on.slack.delivery.opened == 2, "the second socket")
        await asyncio.sleep(A_WHILE)  # its hello comes
    await until(lambda: not on.slack.delivery.links, "the end of both")


async def test_a_socket_without_a_hello_is_not_connected(on: Workspace) -> None:
    await on.driver.sockets(hello=False)
    async with on.life(connected=False) as adapter:
        await until(lambda: "does not open" in adapter.standing().reason, "word of it")
        assert adapter.standing().connection is Connection.CONNECTING
        await on.driver.sockets(hello=True)
        await on.connected(adapter)


async def test_a_silent_socket_is_deaf_and_replaced(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.sockets("deafen")
        await until(lambda: adapter.standing().connection is Connection.DEAF, f"deaf: {adapter.standing()}")
        assert 'Slack account "work"' in adapter.standing().reason
        await on.connected(adapter)
        await on.driver.say("hello")
        await on.taken()


async def test_a_socket_that_answers_pings_and_hears_nothing_is_replaced_after_a_while(on: Workspace) -> None:
    pace = replace(on.settings().pace, quiet=timedelta(seconds=0.4))
    async with on.life(pace=pace):
        await on.driver.sockets("mute")
        await on.driver.say("hello")
        await on.taken()


async def test_a_socket_that_died_is_replaced_at_once_where_slack_answers_calls(on: Workspace) -> None:
    """The way was cut and is open again, which its silence alone would tell much later."""
    pace = replace(SHORT, silent=timedelta(minutes=5), pong=timedelta(seconds=0.1))
    async with on.life(pace=pace) as adapter:
        await on.driver.sockets("deafen")
        await asyncio.sleep(A_WHILE)
        await adapter.ping()
        await on.driver.say("hello")
        await on.taken()


async def test_a_socket_that_answers_pings_stays_however_many_calls_slack_answers(on: Workspace) -> None:
    async with on.life(pace=replace(SHORT, pong=timedelta(seconds=0.05))) as adapter:
        for _ in range(10):
            await adapter.ping()
            await asyncio.sleep(0.02)
        assert on.slack.delivery.opened == 1


async def test_while_the_store_is_away_slack_tells_other_processes(on: Workspace) -> None:
    async with on.life() as adapter:
        on.places.is_away, on.sink.away = True, 1000
        await on.driver.say("hello")
        await until(lambda: not on.slack.delivery.links, "no socket of this process")
        await on.driver.say("hello again")
        await asyncio.sleep(A_WHILE)
        assert (on.slack.delivery.opened, adapter.standing().connection) == (1, Connection.RECONNECTING)
        on.places.is_away, on.sink.away = False, 0
        await on.connected(adapter)
        assert sorted(signal.body.text for signal in await on.taken(2) if isinstance(signal.body, Said)) == [
            "hello",
            "hello again",
        ]


async def test_with_a_store_that_comes_and_goes_sockets_are_opened_ever_more_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    def noted(_: Sockets, wait: timedelta) -> timedelta:
        waits.append(wait.total_seconds())
        return timedelta()

    async def answers() -> None: ...

    monkeypatch.setattr(Sockets, "_spread", noted)

    sockets = Sockets(
        cast("Store", None),
        web=cast("Web", None),
        pace=Pace(),
        health=Health("main"),
        on_hearing=lambda _: None,
        on_opening=lambda: None,
        ask_store=answers,
    )
    for _ in range(6):
        await sockets._until_stored()
    assert waits == [1, 2, 4, 8, 15, 15]
    sockets._settled_at = 0  # it stayed
    await sockets._until_stored()
    assert waits[6:] == [1]


async def test_a_store_that_answers_and_did_not_take_one_event_costs_no_socket(on: Workspace) -> None:
    async with on.life():
        on.sink.away = 2
        await on.driver.say("hello")
        await on.taken()
        assert on.slack.delivery.opened == 1


async def test_socket_mode_switched_off_says_what_to_do_and_goes_on_by_itself(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault("refuse", count=3, on="apps.connections.open", error="link_disabled")
        await on.driver.sockets("link_disabled")
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        assert "Socket Mode" in adapter.standing().reason
        await on.connected(adapter)


async def test_too_many_sockets_is_told(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault("refuse", count=2, on="apps.connections.open", error="ratelimited")
        await on.driver.sockets("too_many_websockets")
        await until(lambda: adapter.standing().connection is Connection.RECONNECTING, "word of it")
        await on.connected(adapter)


async def test_twenty_lives_leave_no_socket_behind(on: Workspace) -> None:
    for _ in range(20):
        async with on.life():
            pass
    await until(lambda: not on.slack.delivery.links, "no socket")


# ------------------------------------------------------------------------------------- buttons, forms and commands


async def test_a_denial_with_a_reason_asks_for_it_in_a_form(on: Workspace) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD, address=THREAD))
        press = {"channel": "C1", "ts": receipt.message_id, "value": f"{APPROVAL}:reason"}
        await on.driver.do("click", **press)
        screen = await on.seen(lambda screen: bool(screen.raw["views"]), "the form")
        assert on.sink.calls == []
        await on.driver.do("submit", view=screen.raw["views"][0], values=[["reason", "reason", "too risky"]])
        [signal] = await on.taken()
        assert signal.body == Clicked(APPROVAL, Choice.DENY, "too risky")
        assert signal.address == THREAD


async def test_a_press_is_one_signal_however_often_it_comes(on: Workspace) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD))
        told = await on.driver.do("click", channel="DU1", ts=receipt.message_id, value=f"{APPROVAL}:approve")
        await on.taken()
        await on.driver.do("again", event=told["id"])
        await on.driver.say("after it")
        await on.taken(2)
        assert on.sink.clicks == [Clicked(APPROVAL, Choice.APPROVE)]


async def test_a_private_word_is_ephemeral_and_in_the_thread(on: Workspace) -> None:
    on.sink.notice = "Only <owners> may do that."
    async with on.life():
        await on.driver.say("hello", channel="C1", thread_ts=THREAD.thread)
        screen = await on.seen(lambda screen: bool(screen.notices), "the word")
        [notice] = screen.notices
        assert notice == {
            "channel": "C1",
            "user": "U1",
            "text": "Only &lt;owners&gt; may do that.",
            "thread_ts": THREAD.thread,
        }


async def test_a_private_word_that_cannot_be_spoken_changes_nothing(on: Workspace) -> None:
    on.sink.notice = "psst"
    await on.driver.fault("error", on="chat.postEphemeral")
    async with on.life():
        told = await on.driver.say("hello")
        await until(lambda: on.acked(told), "acknowledgement")
        await on.driver.say("still here?")
        await on.taken(2)


async def test_a_slash_command_is_answered_in_its_acknowledgement(on: Workspace) -> None:
    on.sink.notice = "Nothing is going on."
    async with on.life():
        told = await on.driver.do("command", text="status", channel="C1")
        await until(lambda: on.acked(told), "acknowledgement")
        [signal] = on.sink.taken
        assert signal.body == Commanded("status")
        [notice] = (await on.screen()).notices
        assert (notice["text"], notice["user"]) == ("Nothing is going on.", "U1")


@pytest.mark.parametrize("text", ["!stop", "<@U0BOT> !stop"])
async def test_a_command_in_a_thread_is_written_out(on: Workspace, text: str) -> None:
    async with on.life():
        await on.driver.say(text, channel="C1", thread_ts=THREAD.thread)
        [signal] = await on.taken()
        assert (signal.body, signal.reach, signal.address) == (Stopped(), Addressing.MENTION, THREAD)


# ------------------------------------------------------------------------------------------------ assistant threads


async def test_an_assistant_thread_has_suggestions_a_title_and_a_status(on: Workspace) -> None:
    key = f"{DIRECT_THREAD.room}/{DIRECT_THREAD.thread}"
    async with on.life() as adapter:
        await on.driver.do("assistant", channel=DIRECT_THREAD.room, thread_ts=DIRECT_THREAD.thread)
        await on.seen(lambda screen: "prompts" in screen.raw["assistant"].get(key, {}), "suggestions")
        await on.driver.say("Plan the\n week, " + "please " * 20, thread_ts=DIRECT_THREAD.thread)
        screen = await on.seen(lambda screen: "title" in screen.raw["assistant"][key], "title")
        assert screen.raw["assistant"][key]["title"].startswith("Plan the week, please")
        assert len(screen.raw["assistant"][key]["title"]) <= 60
        await adapter.typing(DIRECT_THREAD, "running `shell`")
        assert (await on.screen()).raw["assistant"][key]["status"] == "running `shell`"
        await adapter.typing(DIRECT_THREAD, "")
        assert (await on.screen()).raw["assistant"][key]["status"] == ""


async def test_only_the_first_message_names_an_assistant_thread(on: Workspace) -> None:
    async with on.life():
        await on.driver.do("assistant", channel=DIRECT_THREAD.room, thread_ts=DIRECT_THREAD.thread)
        await on.seen(lambda screen: bool(screen.raw["assistant"]), "suggestions")
        for text in ("first", "second"):
            await on.driver.say(text, thread_ts=DIRECT_THREAD.thread)
        await on.taken(2)
        screen = await on.seen(lambda screen: bool(screen.calls("assistant.threads.setTitle")), "title")
        assert [args["title"] for args in screen.calls("assistant.threads.setTitle")] == ["first"]


async def test_a_status_is_best_effort(on: Workspace) -> None:
    await on.driver.switch(without=["assistant:write"])
    async with on.life() as adapter:
        await adapter.typing(DIRECT_THREAD, "thinking")
        await adapter.typing(DIRECT, "thinking")
        assert (await on.screen()).raw["assistant"] == {}


# -------------------------------------------------------------------------------------------------- workspaces


async def test_an_app_in_two_workspaces_tells_whose_event_it_is(on: Workspace) -> None:
    async with on.life():
        event = {"type": "message", "channel": "C5", "user": "U5", "text": "<@U0TWO> hi", "ts": "1700000100.000001"}
        authorizations = [{"team_id": "T2", "user_id": "U0TWO", "is_bot": True}]
        told = {"type": "event_callback", "team_id": "T2", "event_id": "Ev77", "event": event}
        await on.driver.do("raw", payload={**told, "authorizations": authorizations})
        [signal] = await on.taken()
        assert signal.address == Address("slack", "T2", "C5", "1700000100.000001")
        assert (signal.platform, signal.body, signal.reach) == ("slack:T2", Said("hi"), Addressing.MENTION)


async def test_two_accounts_of_two_workspaces_work_side_by_side(on: Workspace) -> None:
    other: dict[str, Any] = {"account": "play", "bot_token": "xoxb-T2-token", "app_token": "xapp-T2-token"}
    async with on.life() as one, on.life(**other) as two:
        assert (one.identity, two.identity) == ("T1", "T2")
        await on.driver.say("to one", team="T1")
        await on.driver.say("to two", team="T2", channel="DU2", user="U2")
        signals = await on.taken(2)
        assert {(s.platform, s.body) for s in signals} == {("slack:T1", Said("to one")), ("slack:T2", Said("to two"))}


async def test_a_verdict_without_a_word_is_silent(on: Workspace) -> None:
    async def sink(signal: Any) -> Verdict:
        return Verdict(Outcome.IGNORED, SignalId(""))

    adapter = on.adapter()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.listen(sink))
        await on.connected(adapter)
        told = await on.driver.say("hello")
        await until(lambda: on.acked(told), "acknowledgement")
        task.cancel()
    assert (await on.screen()).notices == []
