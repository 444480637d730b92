"""Presses of Slack: over its socket, and over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sized
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from aiohttp import web

from adapters.slack.adapter import SlackAdapter
from adapters.slack.interactions import BUTTON, DENIAL, FORM_CALLBACK
from adapters.slack.settings import SlackSettings
from bot.testing.serve import serving
from runtime.contract import AdapterContext, Address, ChannelAdapter, Identity
from tests.contract.adapters.rigs import slack as slack_rig
from tests.fakes.slack import Slack
from tests.fakes.slack_board import Event
from tests.fakes.slack_delivery import request_body, secret_of, signature
from tests.security.presses import ROBOT, Press
from tests.security.wires.wire import NUMBERS, Sent, Wire, until

TEAM: Final = slack_rig.TEAM


@dataclass
class SlackWire:
    slack: Slack
    url: str
    mode: str
    rooms: tuple[Address, Address] = (Address("slack", TEAM, "C1"), Address("slack", TEAM, "C2"))
    cards: list[str] = field(default_factory=list)
    has_form: bool = True
    has_alone: bool = True
    heard: Mapping[str, Sized] = field(default_factory=dict)
    _hook: str = ""
    _events: dict[str, Event] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"slack-{self.mode}"

    def identity(self, name: str) -> Identity:
        return Identity(f"slack:{TEAM}/{self._user(name)}")

    def _user(self, name: str) -> str:
        return "U9" if name == ROBOT else f"U{NUMBERS[name]}"

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        settings = SlackSettings(
            account="work",
            bot_token=f"xoxb-{TEAM}-token",
            app_token=f"xapp-{TEAM}-token",
            signing_secret=secret_of(TEAM),
            mode=self.mode,
            api_base_url=f"{self.url}/api/",
            pace=slack_rig.SHORT,
        )
        return SlackAdapter(settings, given)

    @asynccontextmanager
    async def reachable(self, adapter: ChannelAdapter) -> AsyncIterator[None]:
        assert isinstance(adapter, SlackAdapter)
        app, routes = web.Application(), adapter.routes()
        app.add_routes(routes)
        async with serving(app) as base:
            self._hook = f"{base}{routes[0].path}" if routes else ""
            yield

    async def send(self, press: Press) -> Sent:
        event = self._event(press)
        if press.twist:
            press.twist(event.payload)
        view = event.payload.get("view")
        trigger = str(event.payload.get("trigger_id"))
        key = f"v{view.get('id')}:{trigger}" if isinstance(view, dict) else trigger
        self._events[key] = event
        await self._brought(event, can_read=press.twist is None)
        return Sent(key)

    async def again(self, sent: Sent) -> Sent:
        await self._brought(self._events[sent.key])
        return Sent(sent.key)

    def _event(self, press: Press) -> Event:
        room, person = self.rooms[press.room].room, self._user(press.who)
        if press.values is not None:
            return self._sent(press, press.values)
        if press.reason is None:
            card = self.cards[press.room]
            pressed = {"channel": room, "ts": card, "value": press.payload, "action_id": f"{BUTTON}x"}
            event = self.slack.people.click({**pressed, "user": person})
            if press.alone:
                event.payload["container"]["is_ephemeral"] = True
            return event
        about = {"approval": press.payload.rpartition(":")[0], "room": room, "thread": ""}
        view = {"id": self.slack.board.next_id("V"), "callback_id": DENIAL, "private_metadata": json.dumps(about)}
        values = [["reason", "reason", press.reason]]
        return self.slack.people.submit({"view": view, "values": values, "user": person})

    def _sent(self, press: Press, values: Mapping[str, str]) -> Event:
        """The form behind a button. What it is about comes back as we opened it."""
        approval, _, choice = press.payload.rpartition(":")
        about = {"approval": approval, "choice": choice, "room": self.rooms[press.room].room, "thread": ""}
        known = json.dumps(about | ({"alone": True} if press.alone else {}))
        view = {"id": self.slack.board.next_id("V"), "callback_id": FORM_CALLBACK, "private_metadata": known}
        typed = [[name, name, text] for name, text in values.items()]
        return self.slack.people.submit({"view": view, "values": typed, "user": self._user(press.who)})

    async def _brought(self, event: Event, *, can_read: bool = True) -> None:
        if self._hook:
            status = await self._posted(event)
            assert status == 200 or (status == 400 and not can_read), f"{event.payload} was answered by {status}"
            return
        acked = self.slack.board.acked
        acked.pop(event.id, None)
        self.slack.delivery.tell(event)
        await until(lambda: event.id in acked, f"acknowledgement of {event.payload}")

    async def _posted(self, event: Event) -> int:
        body, kind = request_body(event)
        headers = {**signature(secret_of(event.team), body), "Content-Type": kind}
        async with (
            aiohttp.ClientSession() as http,
            http.post(self._hook, data=body.encode(), headers=headers) as answer,
        ):
            return answer.status


@asynccontextmanager
async def slack(mode: str) -> AsyncIterator[Wire]:
    fake = Slack()
    fake.delivery.pace.ack_within, fake.delivery.pace.ping = 30, 0.1
    async with serving(fake.app()) as url:
        yield SlackWire(fake, url, mode)
