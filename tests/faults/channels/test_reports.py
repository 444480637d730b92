"""A report to a room on every platform and on the page, with a kill at every step on its way: it is in each room once.

In the suite each point a kill, all on one report. The long way, each point at each of its first times alone:

    make cuts ARGS="-k report"
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import aiohttp
import pytest

from bot.node.lock import control_of
from bot.operator.client import Client, connected
from tests.contract.adapters.catalogue import RIGS
from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.faults.asked import times_asked
from tests.faults.channels.rounds import shown
from tests.faults.points import FIRED
from tests.faults.program import Kill, Program, living, until
from tests.faults.stage import PLATFORMS, UNBOUND, Rows

PAGE: Final = "thereports"
FIRST: Final = "The morning report"
SECOND: Final = "Two are open."
LATER: Final = timedelta(hours=1)
"""From booking to the instant."""

PROMPT: Final = {"prompt": f"say {FIRST}\nsay {SECOND}"}
TEMPLATE: Final = {"template": f"# {FIRST}\n\n{{{{ ['Two', 'are', 'open.'] | join(' ') }}}}"}
ON_ITS_WAY: Final = [
    *(Kill(FIRED), Kill("claimed"), Kill("model-answered"), Kill("delivery-stored")),
    *(Kill("part-marked"), Kill("part-shown"), Kill("part-checkpointed")),
]
ALONE: Final = [
    *(Kill(point) for point in (FIRED, "claimed", "model-answered", "delivery-stored")),
    *(Kill(point, hit) for point in ("part-marked", "part-shown", "part-checkpointed") for hit in range(1, 7)),
]
"""Six: three platforms, each with the first line and the rest."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One program with an account on each platform; `rooms` are where reports go."""

    program: Program
    rooms: Mapping[str, tuple[Rig, Place]]

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Of the life that there is now."""
        await self.program.up()
        control = control_of(self.program.data)
        assert control is not None
        async with connected(control) as client:
            yield client

    async def until_connected(self) -> None:
        async def look() -> bool | None:
            try:
                async with aiohttp.ClientSession() as http, http.get(await self.program.up() + "/readyz") as answer:
                    return answer.status == 200 or None
            except aiohttp.ClientConnectionError:
                return None

        await until(look, "a connection to every channel")

    @property
    def rows(self) -> Rows:
        return Rows(self.program.data / "signalbox.db")

    def named(self) -> list[str]:
        """The rooms as people write them."""
        platforms = [
            f"{rig.channel}:{rig.settings()['name']}/{place.address.room}" for rig, place in self.rooms.values()
        ]
        return [f"web:main/{PAGE}", *platforms]

    async def greet(self) -> None:
        """Somebody speaks in every room and is answered.

        A conversation of the page is there since then. On Telegram the ids of a supergroup are known since then, without
        which nobody can look for a lost message there.
        """
        async with self.client() as client:
            await client.say(PAGE, "hello", uuid4().hex)
            await until(lambda: self._greeted(client), "an answer on the page")
        for rig, place in self.rooms.values():
            await rig.say(place, "hello")
            await shown(rig, place, 1)

    async def book(self, task: Mapping[str, str], **terms: Any) -> None:
        async with self.client() as client:
            at = datetime.now(UTC) + LATER
            fields = {"name": "morning", "when": f"at {at:%Y-%m-%dT%H:%M:%S}", "zone": "UTC", "to": self.named()}
            await client.add_schedule({**fields, **task, **terms})

    def pass_time(self) -> None:
        """Its instant comes while nothing runs."""
        now = int(datetime.now(UTC).timestamp() * 1_000_000)
        self.rows.change(f"UPDATE schedules SET next_at = {now}, due_at = {now}")

    async def _greeted(self, client: Client) -> bool | None:
        return len((await client.room(PAGE))["entries"]) == 2 or None

    async def until_done(self) -> None:
        """Until its occurrence is over and nothing waits to be shown, over however many lives."""

        async def look() -> bool | None:
            done = self.rows.select("SELECT 1 FROM occurrences WHERE state = 'done'")
            left = self.rows.select("SELECT 1 FROM deliveries WHERE state <> 'shown'")
            return (bool(done) and not left) or None

        await until(look, "an end of the report")

    async def on_page(self) -> list[str]:
        """What stands there beside the answer to what was said."""
        async with self.client() as client:
            entries = (await client.room(PAGE))["entries"]
        return [entry["markdown"] for entry in entries if FIRST in entry.get("markdown", "")]


@asynccontextmanager
async def scene(folder: Path, *arguments: str) -> AsyncIterator[Scene]:
    data = folder / "data"
    data.mkdir(mode=0o711)
    async with AsyncExitStack() as stack:
        rooms: dict[str, tuple[Rig, Place]] = {}
        for kind in PLATFORMS:
            (folder / kind).mkdir()
            rig = await stack.enter_async_context(RIGS[kind](folder / kind, process=True))
            shared = rig.rooms().shared
            assert shared
            rooms[kind] = (rig, shared)
        accounts = [{**rig.settings(), "messages_per_second": UNBOUND} for rig, _ in rooms.values()]
        known = ("--set", 'access.default="allow"')
        given = ("--set", f"accounts={json.dumps(accounts)}", "--hurry", *known, *arguments)
        yield Scene(Program(data, *given, module="tests.faults.asked"), rooms)


def is_threaded(screen: Sequence[OnScreen]) -> bool:
    first, *rest = screen
    return not first.under and bool(rest) and {message.under for message in rest} == {first.id}


async def play(at: Scene, plan: Sequence[Kill], task: Mapping[str, str]) -> None:
    """Book it, be killed as planned, and look at every room in the end."""
    async with living(at.program):
        await at.until_connected()
        await at.greet()
        await at.book(task, thread="own")
        await at.program.leave()
    at.pass_time()
    async with living(at.program, plan):
        await at.program.spent.wait()
        await at.until_done()
        for kind, (rig, place) in at.rooms.items():
            screen = [one for one in await rig.visible(place) if "hello" not in one.text]
            assert len(screen) == 2, (kind, screen)
            assert FIRST in screen[0].text
            assert screen[1].text == SECOND
            assert is_threaded(screen), (kind, screen)
            assert not any(message.marked for message in screen)
        [page] = await at.on_page()
        assert SECOND in page
        await at.program.leave()
    assert at.program.kills == list(plan)
    assert at.rows.select("SELECT state, attempts, wanted FROM occurrences") == [("done", 1, 4)]
    assert at.rows.disagreements() == []


@pytest.mark.timeout(180)  # seconds; about fifteen where nothing else runs
@pytest.mark.parametrize(
    ("task", "plan", "asked"),
    [
        pytest.param(PROMPT, ON_ITS_WAY, 2, id="the agent, asked again after the kill that took its first words"),
        pytest.param(TEMPLATE, ON_ITS_WAY, 0, id="a template, for which nobody is asked", marks=pytest.mark.soak),
    ],
)
async def test_killed_at_every_step_a_report_is_in_each_room_once(
    tmp_path: Path, task: Mapping[str, str], plan: Sequence[Kill], asked: int
) -> None:
    async with scene(tmp_path) as at:
        await play(at, plan, task)
        assert times_asked(at.program.data) - GREETINGS == asked


GREETINGS: Final = 1 + len(PLATFORMS)
"""Somebody said hello in each room."""


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kill", ALONE, ids=str)
async def test_killed_once_anywhere_a_report_is_in_each_room_once(tmp_path: Path, kill: Kill) -> None:
    async with scene(tmp_path) as at:
        await play(at, [kill], PROMPT)
        assert times_asked(at.program.data) - GREETINGS == 1 + (kill.point == "model-answered")
