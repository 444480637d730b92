"""A Discord that others wrote (simcord, in memory) takes our payloads, and tells us of people as ours does.

It is no server: it replaces the HTTP of discord.py and hands events to the library's own parsers. So our payloads go to it
by the library's client, and what it tells is read where the library reads it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import discord
import simcord
from discord.http import Route

from adapters.discord import interactions, parse
from adapters.discord.outgoing.render import render
from adapters.discord.outgoing.send import CALLS_NOBODY
from adapters.discord.parse import Me
from adapters.discord.rooms import Place, Rooms, place_of
from adapters.discord.settle import payloads
from runtime.chat.forms import denial
from runtime.contract import (
    REASON,
    Address,
    Addressing,
    Amended,
    Choice,
    Clicked,
    Commanded,
    Delivery,
    Identity,
    Said,
    Signal,
)
from tests.golden import SAMPLE
from tests.unit.chat.test_cards import PENDING
from tests.wire.discord.stage import APPROVAL, BUTTONS, delivery

Raw = dict[str, Any]


@dataclass
class Other:
    """The other Discord: a server with one channel and one person, and what the bot was told."""

    client: discord.Client
    env: Any
    channel: Any
    person: Any
    heard: list[tuple[str, Raw]] = field(default_factory=list)

    @property
    def me(self) -> Me:
        assert self.client.user
        return Me(str(self.client.user.id))

    @property
    def address(self) -> Address:
        return Address("discord", self.me.identity, str(self.channel.id))

    def told(self, event: str) -> Raw:
        """The last event of that name."""
        return next(data for name, data in reversed(self.heard) if name == event)

    async def call(self, method: str, path: str, **how: Any) -> Any:
        return await self.client.http.request(Route(method, path), **how)

    async def show(self, delivery: Delivery, **more: Any) -> list[Raw]:
        bodies = [json.loads(wire.body) for wire in render(delivery)]
        path = f"/channels/{delivery.address.room}/messages"
        numbered = [{**body, **CALLS_NOBODY, "nonce": f"n{n}", "enforce_nonce": True} for n, body in enumerate(bodies)]
        return [await self.call("POST", path, json={**body, **more}) for body in numbered]

    async def answer(self, raw: Raw, answer: interactions.Answer) -> None:
        path = f"/interactions/{raw['id']}/{raw['token']}/callback"
        await self.call("POST", path, json=dict(answer))


@asynccontextmanager
async def made() -> AsyncIterator[Other]:
    client = discord.Client(
        intents=discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
    )
    async with simcord.run(client) as env:
        guild = env.create_guild()
        channel = guild.create_text_channel("general")
        other = Other(client, env, channel, guild.add_member(env.create_user("ada")))
        for event, parser in list(client._connection.parsers.items()):
            client._connection.parsers[event] = tapped(other, event, parser)
        yield other


def tapped(other: Other, event: str, parser: Callable[[Any], None]) -> Callable[[Any], None]:
    def hear(data: Any) -> None:
        other.heard.append((event, json.loads(json.dumps(data))))
        parser(data)

    return hear


def said(other: Other) -> Signal:
    signal = parse.message(other.told("MESSAGE_CREATE"), Place(str(other.channel.id), 0), other.me)
    assert signal
    return signal


async def test_what_people_say_is_read() -> None:
    async with made() as other:
        await other.person.send(other.channel, f"<@{other.me.identity}> what time is it?")
        signal = said(other)
        assert (signal.body, signal.reach) == (Said("what time is it?"), Addressing.MENTION)
        assert signal.actor == Identity(f"discord:{other.person.id}")
        await other.person.send(other.channel, "lunch?")
        assert said(other).reach is Addressing.OVERHEARD


async def test_an_edit_is_read() -> None:
    async with made() as other:
        message = await other.person.send(other.channel, "helo")
        await other.person.edit(message, "hello")
        changed = parse.edit(other.told("MESSAGE_UPDATE"), Place(str(other.channel.id), 0), other.me)
        assert changed
        assert changed.body == Amended("hello")


async def test_a_conversation_with_one_person_is_direct() -> None:
    async with made() as other:
        await other.person.send_dm("hi")
        raw = other.told("MESSAGE_CREATE")
        assert "guild_id" not in raw or raw["guild_id"] is None
        place = place_of(await other.call("GET", f"/channels/{raw['channel_id']}"))
        signal = parse.message(raw, place, other.me)
        assert signal
        assert (signal.body, signal.reach) == (Said("hi"), Addressing.DIRECT)


async def test_every_construct_is_taken() -> None:
    async with made() as other:
        shown = await other.show(delivery(SAMPLE, address=other.address))
        history = await other.call("GET", f"/channels/{other.channel.id}/messages", params={"limit": 100})
        assert sorted(message["content"] for message in history) == sorted(message["content"] for message in shown)
        assert all(str(message["author"]["id"]) == other.me.identity for message in history)


async def test_a_card_is_pressed_and_changed() -> None:
    async with made() as other:
        [card] = await other.show(delivery("**May I?**", *BUTTONS, address=other.address))
        assert payloads(card) == [f"{APPROVAL}:approve", f"{APPROVAL}:deny", f"{APPROVAL}:reason"]
        answered = []

        async def on_interaction(_interaction: Any) -> None:
            raw = other.told("INTERACTION_CREATE")
            answered.append(interactions.body_of(raw))
            await other.answer(raw, interactions.answer(raw, None))

        other.client.event(on_interaction)
        await other.person.click(other.channel.last_message, label="Approve")
        assert answered == [Clicked(APPROVAL, Choice.APPROVE)]
        path = f"/channels/{other.channel.id}/messages/{card['id']}"
        [wire] = render(delivery("**Approved**", address=other.address))
        body = json.loads(wire.body)
        changed = await other.call("PATCH", path, json={**body, **CALLS_NOBODY, "attachments": []})
        assert (changed["content"], changed["components"]) == ("**Approved**", [])


async def test_the_form_for_a_reason_is_taken_and_read() -> None:
    async with made() as other:
        await other.show(delivery("**May I?**", *BUTTONS, address=other.address))
        bodies: list[Any] = []

        async def on_interaction(_interaction: Any) -> None:
            raw = other.told("INTERACTION_CREATE")
            if interactions.opens_form(raw):
                await other.answer(raw, interactions.form_answer(denial(replace(PENDING, id=APPROVAL))))
                return
            bodies.append(interactions.body_of(raw))
            await other.answer(raw, interactions.answer(raw, "Denied."))

        other.client.event(on_interaction)
        opened = await other.person.click(other.channel.last_message, label="Deny with a reason…")
        await other.person.submit_modal(opened, {REASON: "too risky"})
        assert bodies == [Clicked(APPROVAL, Choice.DENY, "too risky")]


async def test_the_commands_are_taken_and_given() -> None:
    async with made() as other:
        application = other.client.application_id
        await other.call("PUT", f"/applications/{application}/commands", json=interactions.commands())
        there = await other.call("GET", f"/applications/{application}/commands")
        assert interactions.is_registered(interactions.commands(), there)
        bodies: list[Any] = []

        async def on_interaction(_interaction: Any) -> None:
            raw = other.told("INTERACTION_CREATE")
            bodies.append(interactions.body_of(raw))
            await other.answer(raw, interactions.answer(raw, None))

        other.client.event(on_interaction)
        result = await other.person.slash(other.channel, "ask", text="what is up?")
        assert result.ephemeral
        await other.person.slash(other.channel, "status")
        assert bodies == [Said("what is up?"), Commanded("status")]


async def test_a_thread_begins_with_a_message_and_has_its_id() -> None:
    async with made() as other:
        message = await other.person.send(other.channel, f"<@{other.me.identity}> plan")
        path = f"/channels/{other.channel.id}/messages/{message.id}/threads"
        thread = await other.call("POST", path, json={"name": "plan"})
        assert thread["id"] == str(message.id)
        assert place_of(thread).address("discord", other.me.identity) == Address(
            "discord", other.me.identity, str(other.channel.id), str(message.id)
        )
        shown = {**json.loads(render(delivery("Gladly."))[0].body), **CALLS_NOBODY}
        assert (await other.call("POST", f"/channels/{thread['id']}/messages", json=shown))["content"] == "Gladly."


async def test_places_are_learnt_from_its_servers() -> None:
    async with made() as other:
        rooms = Rooms(other.me.identity)
        for event, data in other.heard:
            rooms.learn(event, data)
        guild = other.env.create_guild()
        guild.create_text_channel("more")
        for event, data in other.heard:
            rooms.learn(event, data)
        assert [place.name for place in rooms.places.values()].count("more") == 1
