"""A Matrix room on a real homeserver, answered by a real process that is killed before, in and after each send."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from mautrix.types import Event, MessageType

from tests.fakes import homeserver
from tests.fakes.homeserver import Homeserver, User, register
from tests.fakes.homeserver_faults import Proxy, pass_on
from tests.packages import path_with_packages
from tests.unit.test_docs import _environment

pytestmark = [
    pytest.mark.soak,
    pytest.mark.xdist_group("homeserver"),
    pytest.mark.timeout(400),
    pytest.mark.skipif(not homeserver.is_installed(), reason="Synapse isn't installed: make cuts sets it up"),
]

Raw = Mapping[str, Any]

PATIENCE: Final = 90.0  # seconds on a busy machine
GLANCE: Final = 0.05
PASSWORDLESS: Final = {"msgtype": "m.text", "m.mentions": {}}
SETTINGS: Final = """
data_dir = "var"
[web]
port = 0
[model]
name = "demo"
[access]
owners = ["matrix:{owner}"]
[[accounts]]
name = "mx"
channel = "matrix"
homeserver = "{url}"
"""


@dataclass
class Program:
    """`python -m bot run` over one folder, one life after another."""

    folder: Path
    token: str
    process: Process | None = None
    deaths: list[str] = field(default_factory=list)

    async def live(self) -> None:
        """Start it again whenever it was killed, until cancelled. Errors: RuntimeError when it ends in any other way."""
        environment = _environment(self.folder) | {"MATRIX_ACCESS_TOKEN": self.token}
        environment["PYTHONPATH"] = path_with_packages(self.folder / "site")
        command = (sys.executable, "-m", "bot", "run", "--config", str(self.folder / "signalbox.toml"))
        while True:
            with (self.folder / "log").open("ab") as log:
                self.process = await asyncio.create_subprocess_exec(
                    *command, cwd=self.folder, env=environment, stdout=log, stderr=log
                )
            try:
                code = await self.process.wait()
            finally:
                if self.process.returncode is None:
                    self.process.kill()
                    await self.process.wait()
            if code != -signal.SIGKILL:
                raise RuntimeError(f"it ended with {code}: {self.log()}")

    def kill(self, why: str) -> None:
        assert self.process is not None
        self.deaths.append(why)
        os.kill(self.process.pid, signal.SIGKILL)

    def log(self) -> str:
        return "\n".join((self.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()[-30:])


@dataclass
class Stage:
    server: Homeserver
    proxy: Proxy
    program: Program
    bot: User
    ada: User

    def kill_at(self, moment: str, kind: str = "send") -> None:
        """Kill the program at the next such moment; what it was about to do is cut there."""

        def watch(now: str, of: str) -> bool:
            if (now, of) != (moment, kind):
                return True
            self.proxy.moments = pass_on
            self.program.kill(f"{moment} {kind}")
            return False

        self.proxy.moments = watch

    async def said(self, room: str, *, notices: bool = False) -> list[Raw]:
        """Messages of the bot as people see them now: each once, with its newest content."""
        events = [e for e in await self.ada.timeline(room) if e["sender"] == self.bot.id and e["content"]]
        shown = [
            e for e in events if e["type"] == "m.room.message" and (e["content"]["msgtype"] == "m.notice") is notices
        ]
        changes = {
            e["content"]["m.relates_to"]["event_id"]: e["content"]["m.new_content"]
            for e in shown
            if "m.new_content" in e["content"]
        }
        return [
            {**e, "content": changes.get(e["event_id"], e["content"])}
            for e in shown
            if "m.new_content" not in e["content"]
        ]

    async def bodies(self, room: str) -> list[str]:
        return [event["content"]["body"] for event in await self.said(room)]

    async def say(self, room: str, text: str, **more: Any) -> str:
        return await self.ada.send(room, {**PASSWORDLESS, "body": text, **more})


async def until(look: Callable[[], Awaitable[bool]], what: Callable[[], str]) -> None:
    end = asyncio.get_running_loop().time() + PATIENCE
    while not await look():
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(what())
        await asyncio.sleep(GLANCE)


@asynccontextmanager
async def staged(folder: Path) -> AsyncIterator[Stage]:
    server = Homeserver(folder / "synapse")
    server.start()
    try:
        await server.up()
        proxy = Proxy(server.url)
        async with aiohttp.ClientSession() as http, proxy.serving() as url:
            bot = await register(http, server.url, "signalbox", "Signalbox")
            ada = await register(http, server.url, "ada", "Ada")
            home = folder / "home"
            home.mkdir()
            (home / "signalbox.toml").write_text(SETTINGS.format(owner=ada.id, url=url), encoding="utf-8")
            program = Program(home, bot.token)
            yield Stage(server, proxy, program, bot, ada)
    finally:
        server.stop()


@asynccontextmanager
async def living(stage: Stage) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.program.live())
        try:
            yield
        finally:
            task.cancel()


async def answered(stage: Stage, room: str, count: int) -> Sequence[str]:
    """All answers, once there are so many of them and nothing grows any more."""

    async def look() -> bool:
        bodies = await stage.bodies(room)
        return len(bodies) >= count and not any(body.endswith(" …") for body in bodies)

    await until(look, lambda: f"no {count} answers; {stage.program.deaths}\n{stage.program.log()}")
    return await stage.bodies(room)


def question(number: int) -> str:
    """Different words each time: the same ones again, while they wait, are one request."""
    return f'call read_file {{"path": "file{number}.txt"}}'


async def test_a_room_is_answered_once_over_kills_a_restart_of_the_homeserver_and_a_cut_answer(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        # Somebody it knows invites it, and writes before it could join.
        room = (
            await stage.ada.call(
                "POST", "/createRoom", {"preset": "trusted_private_chat", "is_direct": True, "invite": [stage.bot.id]}
            )
        )["room_id"]
        await stage.say(room, question(1))
        async with living(stage):
            await answered(stage, room, 1)
            for number, moment in enumerate(("before", "applied", "answered"), 2):
                stage.kill_at(moment)
                await stage.say(room, question(number))
                await answered(stage, room, number)
            assert stage.program.deaths == ["before send", "applied send", "answered send"]

            stage.proxy.add("send", "cut after", 1, 0)
            await stage.say(room, question(5))
            await answered(stage, room, 5)

            # The homeserver goes down with a question that it took, and comes back.
            await stage.say(room, question(6))
            stage.server.stop()
            await asyncio.sleep(1)
            stage.server.start()
            await stage.server.up()
            await answered(stage, room, 6)

            await asyncio.sleep(2)  # anything that came twice would be there by now
            bodies = await stage.bodies(room)
            assert [sum(f"file{number}." in body for body in bodies) for number in range(1, 7)] == [1] * 6
            for event in await stage.said(room):
                read = Event.deserialize(json.loads(json.dumps(event)))  # a client by others understands it
                assert read.content.msgtype is MessageType.TEXT
                assert ".txt" in read.content.formatted_body


async def test_a_card_is_decided_by_a_reaction_and_done_once_over_a_kill(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        room = await stage.ada.room(stage.bot, direct=True)
        async with living(stage):
            await until(lambda: _is_there(stage, room), lambda: stage.program.log())
            await stage.say(room, 'call write_file {"path": "a.txt", "content": "written once"}')
            await answered(stage, room, 2)
            card = next(e for e in await stage.said(room) if "signalbox.choices" in e["content"])
            stage.kill_at("applied", "edit")
            relates = {"rel_type": "m.annotation", "event_id": card["event_id"], "key": "✅"}
            await stage.ada.send(room, {"m.relates_to": relates}, "m.reaction")

            async def decided() -> bool:
                shown = [e["content"]["body"] for e in await stage.said(room) if e["event_id"] == card["event_id"]]
                return "Approved" in shown[0]

            await until(decided, lambda: f"undecided: {stage.program.deaths}\n{stage.program.log()}")
            await answered(stage, room, 3)
            files = list((tmp_path / "home").rglob("a.txt"))
            assert [file.read_text() for file in files] == ["written once"]


async def _is_there(stage: Stage, room: str) -> bool:
    """The first start takes nothing in that was said before it, so a test waits for an answer."""
    if not await stage.bodies(room):
        await stage.say(room, "!status")
        await asyncio.sleep(1)
    return bool(await stage.bodies(room))


async def test_an_encrypted_room_is_told_once_and_never_answered(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
        asked = {"preset": "private_chat", "invite": [stage.bot.id], "initial_state": [encryption]}
        room = (await stage.ada.call("POST", "/createRoom", asked))["room_id"]
        async with living(stage):
            stage.kill_at("applied", "notice")

            async def told() -> bool:
                return bool(await stage.said(room, notices=True))

            await until(told, lambda: f"nothing told\n{stage.program.log()}")
            await stage.say(room, "list the files")  # unencrypted, all the same
            open_room = await stage.ada.room(stage.bot, direct=True)
            await until(lambda: _is_there(stage, open_room), lambda: stage.program.log())
            assert stage.program.deaths == ["applied notice"]
            [notice] = await stage.said(room, notices=True)
            assert "encrypted" in notice["content"]["body"]
            assert await stage.bodies(room) == []
