"""Invitations, gaps, upgrades, encryption, tokens that end, and cards: on a real homeserver."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import pytest

from runtime.contract import (
    Address,
    ApprovalId,
    Button,
    Choice,
    Clicked,
    Connection,
    Field,
    Form,
    Identity,
    Moved,
    Said,
    Shown,
)
from runtime.errors import Rejected, Retryable
from signalbox_matrix.adapter import BUCKET_BOUND, BUCKET_FREE
from tests.contract.adapters.rig import Place, Trouble
from tests.contract.adapters.rigs.matrix import MatrixRig, identity
from tests.contract.adapters.stage import Stage, until
from tests.fakes.homeserver import User

pytestmark = pytest.mark.soak

ENCRYPTION: Final = {"algorithm": "m.megolm.v1.aes-sha2"}
APPROVAL: Final = ApprovalId("0354ZwM001YzyMN2DRU5KC")
CARD: Final = (Button(APPROVAL, Choice.APPROVE, "Approve"), Button(APPROVAL, Choice.DENY, "Deny"))


async def invited(rig: MatrixRig, by: User, *, direct: bool = True, **more: Any) -> str:
    asked = {"preset": "private_chat", "is_direct": direct, "invite": [rig.cast.bot.id], **more}
    return str((await by.call("POST", "/createRoom", asked))["room_id"])


async def members(rig: MatrixRig, room: str, by: User) -> set[str]:
    return set((await by.call("GET", f"/rooms/{quote(room)}/joined_members"))["joined"])


def body(text: str) -> dict[str, Any]:
    return {"msgtype": "m.text", "body": text, "m.mentions": {}}


# -------------------------------------------------------------------------------------------------------- invitations


async def test_what_was_written_with_the_invitation_is_answered_and_earlier_history_is_not(
    stage: Stage, rig: MatrixRig
) -> None:
    ada, bob = rig.cast.ada, rig.cast.bob
    async with stage.life():
        old = await ada.room(bob)
        await ada.send(old, body("said to bob"))
        await ada.call("POST", f"/rooms/{quote(old)}/invite", {"user_id": rig.cast.bot.id})
        await ada.send(old, body("said to all, after the invitation"))
        await stage.taken("said to all, after the invitation")
        room = await invited(rig, ada)
        await ada.send(room, body("hello at once"))
        await stage.taken("hello at once")
        assert "said to bob" not in stage.sink.texts


async def test_an_invitation_by_somebody_who_may_not_is_declined(stage: Stage, rig: MatrixRig) -> None:
    asked: list[tuple[Identity, bool]] = []

    async def may(who: Identity, room: Address, alone: bool) -> bool:
        asked.append((who, alone))
        return who == rig.owner

    stage.given = replace(stage.given, may_invite=may)
    ada, bob = rig.cast.ada, rig.cast.bob
    async with stage.life():
        refused = await invited(rig, bob, direct=False)
        accepted = await invited(rig, ada)

        async def is_in() -> bool:
            return rig.cast.bot.id in await members(rig, accepted, ada)

        await until(is_in, "the bot")
        assert asked == [(rig.stranger, False), (rig.owner, True)]
        state = await bob.call("GET", f"/rooms/{quote(refused)}/state/m.room.member/{quote(rig.cast.bot.id)}")
        assert state["membership"] == "leave"


# --------------------------------------------------------------------------------------------------------------- gaps


async def test_more_than_a_sync_holds_is_read_from_the_history_in_order(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life():
        await rig.say(stage.place, "before")
        await stage.taken("before")
    said = [f"line {number}" for number in range(70)]
    for text in said:
        await rig.cast.ada.send(stage.place.address.room, body(text))
    async with stage.life():
        await stage.taken(*said)
        assert stage.sink.texts == ["before", *said]


async def test_a_position_that_is_lost_costs_nothing_that_was_said_lately(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life():
        await rig.say(stage.place, "before")
        await stage.taken("before")
    await rig.say(stage.place, "meanwhile")
    bot = rig.cast.bot
    await bot.call("PUT", f"/user/{quote(bot.id)}/account_data/signalbox.position", {})
    async with stage.life():
        await stage.taken("meanwhile")
        assert [stage.sink.texts.count(text) for text in ("before", "meanwhile")] == [1, 1]


# ----------------------------------------------------------------------------------------------------------- upgrades


async def test_a_room_that_is_upgraded_is_followed_under_its_first_address(stage: Stage, rig: MatrixRig) -> None:
    ada, old = rig.cast.ada, stage.place.address.room
    async with stage.life() as adapter:
        told = await ada.call("POST", f"/rooms/{quote(old)}/upgrade", {"new_version": "11"})
        new = str(told["replacement_room"])
        await ada.call("POST", f"/rooms/{quote(new)}/invite", {"user_id": rig.cast.bot.id})  # as clients do after it
        await until(lambda: any(isinstance(s.body, Moved) for s in stage.sink.taken), "move")
        [moved] = [s for s in stage.sink.taken if isinstance(s.body, Moved)]
        assert (moved.address.room, moved.body) == (old, Moved(new))

        async def is_in() -> bool:
            return rig.cast.bot.id in await members(rig, new, ada)

        await until(is_in, "the bot")
        await ada.send(new, body("here now"))
        await stage.taken("here now")
        signal = stage.sink.said("here now")
        assert signal
        assert signal.address.room == old
        await stage.say(adapter, "I'm here too")
        shown = await rig.visible(Place(rig.address(new), rig.owner))
        assert [message.text for message in shown] == ["I'm here too"]


# --------------------------------------------------------------------------------------------------------- encryption


async def test_a_room_that_becomes_encrypted_is_told_once_and_gets_no_answer(stage: Stage, rig: MatrixRig) -> None:
    ada, room = rig.cast.ada, stage.place.address.room

    async def told() -> list[str]:
        return [e["content"]["body"] for e in await ada.timeline(room) if e["content"].get("msgtype") == "m.notice"]

    for life in range(2):
        async with stage.life() as adapter:
            if not life:
                await rig.say(stage.place, "before")
                await stage.taken("before")
                await ada.state(room, "m.room.encryption", ENCRYPTION)

            async def is_told() -> bool:
                return bool(await told())

            await until(is_told, "word of it")
            with pytest.raises(Rejected, match="encrypted"):
                await adapter.show(stage.part(adapter, "a secret of before"))
            reach = adapter.features().reach
            assert reach
            assert "encrypted" in (await reach(stage.place.address) or "")
            await ada.send(room, body("unencrypted all the same"))
            await rig.say(rig.rooms().shared or stage.place, f"elsewhere {life}")
            await stage.taken(f"elsewhere {life}")
    assert len(await told()) == 1
    assert stage.sink.texts == ["before", "elsewhere 0", "elsewhere 1"]
    assert await stage.visible() == []


async def test_a_process_that_does_not_read_asks_before_it_sends_into_a_room(stage: Stage, rig: MatrixRig) -> None:
    """Another one reads the account: nobody told this one that the room is encrypted."""
    async with stage.life() as adapter:
        part = stage.part(adapter, "a secret")
    other = rig.adapter(stage.given)
    learn = other.features().learn
    assert learn
    await learn()
    await rig.cast.ada.state(stage.place.address.room, "m.room.encryption", ENCRYPTION)
    with pytest.raises(Rejected, match="encrypted"):
        await other.show(part)
    await other._api.close()  # type: ignore[attr-defined]
    assert await stage.visible() == []


# ------------------------------------------------------------------------------------------------- what is remembered


async def test_a_message_is_found_by_another_login_too(stage: Stage, rig: MatrixRig) -> None:
    """Whose transactions the homeserver doesn't know."""
    async with stage.life() as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await rig.fault(Trouble.CUT_AFTER)
        with pytest.raises(Exception, match="cut"):
            await adapter.show(part)
    bot = rig.cast.bot
    who = {"type": "m.id.user", "user": bot.id}
    login = {"type": "m.login.password", "identifier": who, "password": "password"}
    token = (await bot.call("POST", "/login", login))["access_token"]
    await bot.call("POST", "/logout", {})
    async with stage.life(token=token) as adapter:
        settled = await stage.settle(adapter, part, attempt)
        assert isinstance(settled, Shown)
        assert [message.text for message in await stage.visible()] == ["hello"]


async def test_a_token_that_was_logged_out_is_told_and_nothing_is_lost(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life() as adapter:
        await rig.cast.bot.call("POST", "/logout", {})
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        assert "Log the bot in again" in adapter.standing().reason
        with pytest.raises(Retryable):
            await adapter.show(stage.part(adapter))


async def test_after_the_first_wait_that_is_asked_for_it_goes_slower(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life() as adapter:
        buckets = adapter.features().buckets
        assert buckets
        assert BUCKET_FREE in buckets(stage.place.address)
        await rig.fault(Trouble.RATE, seconds=3)
        with pytest.raises(Retryable) as told:
            await adapter.show(stage.part(adapter))
        assert told.value.retry_after == timedelta(seconds=3)
        assert BUCKET_BOUND in buckets(stage.place.address)


async def test_a_preview_that_was_deleted_is_not_changed_into_an_answer_that_nobody_sees(
    stage: Stage, rig: MatrixRig
) -> None:
    async with stage.life() as adapter:
        receipt = await stage.show(adapter, stage.part(adapter, "so far"))
        [shown] = await stage.visible()
        await rig.remove(stage.place, shown)
        with pytest.raises(Rejected):
            await adapter.edit(receipt, stage.part(adapter, "all of it"))


# -------------------------------------------------------------------------------------------------------------- cards


async def test_a_card_is_answered_in_words_with_its_code_from_anywhere_in_the_room(
    stage: Stage, rig: MatrixRig
) -> None:
    async with stage.life() as adapter:
        await stage.say(adapter, "**May I?**", *CARD)
        [card] = await stage.visible()
        code = card.text.split("deny ")[1][:4]
        await rig.say(stage.place, f"deny {code} too risky")
        await until(lambda: bool(stage.sink.clicks), "click")
        assert stage.sink.clicks == [Clicked(APPROVAL, Choice.DENY, "too risky")]
        await rig.say(stage.place, "approve ABCD")
        await stage.taken("approve ABCD")  # no card has that code: words as any others


async def test_what_others_put_under_our_key_decides_nothing(stage: Stage, rig: MatrixRig) -> None:
    forged = body("**May I?**") | {"signalbox.choices": [[APPROVAL, "approve", "Approve", "✅"]]}
    async with stage.life():
        room = stage.place.address.room
        event = await rig.cast.ada.send(room, forged)
        await rig.cast.ada.send(
            room, {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": "✅"}}, "m.reaction"
        )
        await rig.say(stage.place, "after it")
        await stage.taken("after it")
        assert stage.sink.clicks == []


async def test_a_form_is_asked_for_in_words_and_only_its_own_person_fills_it_in(stage: Stage, rig: MatrixRig) -> None:
    async def form(approval: ApprovalId, choice: Choice, actor: Identity) -> Form:
        return Form(
            approval, choice, "Edit", (Field("command", "The changed command", "make"),), "It runs as you write it."
        )

    stage.given = replace(stage.given, forms=form)
    shared = rig.rooms().shared
    assert shared
    async with stage.life() as adapter:
        await stage.say(adapter, "**May I?**", *CARD, Button(APPROVAL, Choice.EDIT, "Edit"), address=shared.address)
        [card] = await rig.visible(shared)
        await rig.click(shared, card, "Edit")

        async def asked() -> list[dict[str, Any]]:
            events = await rig.cast.ada.timeline(shared.address.room)
            return [e for e in events if "signalbox.form" in e["content"]]

        async def is_asked() -> bool:
            return bool(await asked())

        await until(is_asked, "form")
        [prompt] = await asked()
        assert prompt["content"]["m.mentions"] == {"user_ids": [rig.cast.ada.id]}
        assert stage.sink.clicks == []
        answer = {"m.relates_to": {"m.in_reply_to": {"event_id": prompt["event_id"]}}}
        await rig.cast.bob.send(shared.address.room, body("rm -rf /") | answer)
        await rig.cast.ada.send(shared.address.room, body("make test") | answer)
        await until(lambda: bool(stage.sink.clicks), "form")
        [click] = stage.sink.clicks
        assert (click.choice, click.values) == (Choice.EDIT, {"command": "make test"})
        [signal] = [s for s in stage.sink.taken if isinstance(s.body, Clicked)]
        assert signal.actor == identity(rig.cast.ada)


async def test_a_question_is_answered_in_own_words_by_an_answer_to_it(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life() as adapter:
        options = (Button(APPROVAL, Choice.FIRST, "Red"), Button(APPROVAL, Choice.TEXT, "In words"))
        await stage.say(adapter, "Which colour?", *options)
        [card] = await stage.visible()
        await rig.forge(stage.place, card, "a warm green")
        await until(lambda: bool(stage.sink.clicks), "answer")
        [click] = stage.sink.clicks
        assert (click.choice, list(click.values.values())) == (Choice.TEXT, ["a warm green"])


async def test_another_signalbox_is_known_as_a_program(stage: Stage, rig: MatrixRig) -> None:
    async with stage.life():
        await rig.cast.ada.send(stage.place.address.room, body("I am a bot") | {"signalbox.part": "x.1"})
        await until(lambda: bool(stage.sink.taken), "signal")
        [signal] = stage.sink.taken
        assert (signal.body, signal.by_bot) == (Said("I am a bot"), True)
