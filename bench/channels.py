"""From a message to its reply on Slack, Telegram and Discord, beside a bare handler on the same SDK.

Each side has a fake platform of its own, of the same kind, so that neither hears the other's people. The figures are the
page's (`bench.reply`), and besides: how long from the start to the first listening, and the memory of an idle process.
Our own bounds on sending are lifted by `messages_per_second`: a bare handler has none.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import sides
from bench.figures import Figure, at_most, middle
from bench.load import Told
from bench.memory import IDLE, IDLE_GOAL, made, settled
from bench.program import Program, bare_handler, helper, signalbox
from bench.reply import CHATS, EACH, MESSAGES, ROUNDS, WARM, settings
from bench.sides import Round, Took
from runtime.contract import Identity, Role
from runtime.store.store import open_store

CHANNELS: Final = ("slack", "telegram", "discord")
IDLE_OF_THREE: Final = 130.0  # MB; source: issue 4
STARTS: Final = 5
UNBOUND: Final = 1000  # messages a second
LISTENS_WITHIN: Final = 30.0  # seconds
LIFTED: Final = f"our bounds on sending lifted (messages_per_second = {UNBOUND})"


@dataclass(frozen=True, slots=True)
class People:
    """A fake platform and whoever is on it, as a process."""

    program: Program

    def account(self, **changes: Any) -> Mapping[str, Any]:
        return {**self._call("/account")["account"], **changes}

    @property
    def identities(self) -> Sequence[Identity]:
        return [Identity(one) for one in self._call("/account")["identities"]]

    def load(self, *, chats: int, messages: int) -> Told:
        return Told(**self._call("/load", {"chats": chats, "messages": messages}))

    def again(self, messages: int) -> Told:
        """More messages of each chat of the last load."""
        return Told(**self._call("/again", {"messages": messages}))

    def clicks(self, count: int) -> Told:
        return Told(**self._call("/clicks", {"clicks": count}))

    def forget(self) -> None:
        """What listened before does not count."""
        self._call("/polled")

    def polled(self) -> float:
        """When a bot began to listen, in seconds of time.time()."""
        end = time.monotonic() + LISTENS_WITHIN
        while (at := self._call("/polled")["at"]) is None:
            if time.monotonic() > end:
                raise RuntimeError(f"nobody listened within {LISTENS_WITHIN:g} s")
            time.sleep(0.02)
        return float(at)

    def _call(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.program.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=1_800) as answer:
            return json.load(answer)


@dataclass(frozen=True, slots=True)
class Side:
    """One bot at work and the people who talk to it. `started` seconds after its start it was listening."""

    program: Program
    people: People
    started: float


@dataclass(frozen=True, slots=True)
class Stage:
    channel: str
    how: str
    folder: Path
    model: Program
    ours: Side
    bare: Side


async def channel(name: str, short: bool) -> list[Figure]:
    """All figures of one platform."""
    figures: list[Figure] = []
    for stream in (True,) if short else (False, True):
        async with stage(name, stream=stream) as here:
            if short:
                figures += at_rest(name, [here.ours.started], [here.bare.started], [here.ours.program.memory_mb])
            figures += one_by_one(here, 3 if short else MESSAGES)
            figures += many(here, (3, 2, 1) if short else (CHATS, EACH, ROUNDS))
    return figures if short else [*figures, *await starts_and_memory(name)]


async def three(short: bool) -> list[Figure]:
    """An idle process with all three."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        everybody = [stack.enter_context(people(channel, folder)) for channel in CHANNELS]
        told = accounts(everybody) + settings("http://127.0.0.1:9/v1", stream=True, preload=False)
        with signalbox(made(folder / "ours"), told) as program:
            for one in everybody:
                one.polled()
            megabytes = settled(program)
    return [Figure("memory, idle, three channels", megabytes, "MB", None, at_most(IDLE_OF_THREE))]


Bench = Callable[[bool], Coroutine[None, None, list[Figure]]]
BENCHES: Final[Mapping[str, Bench]] = {**{name: partial(channel, name) for name in CHANNELS}, "three": three}


# ------------------------------------------------------------------------------------------------- the processes


@asynccontextmanager
async def stage(name: str, *, stream: bool) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory() as place, helper("bench.model", folder=Path(place)) as model:
        folder, base = Path(place), f"{model.url}/v1"
        with (
            people(name, folder) as others,
            bare_side(name, others, folder, base, stream=stream) as bare,
            people(name, folder) as known,
            our_side(known, await home(folder / "ours", known), settings(base, stream=stream)) as ours,
        ):
            yield Stage(name, "streamed" if stream else "whole", folder, model, ours, bare)


@contextmanager
def people(name: str, folder: Path) -> Iterator[People]:
    with helper("bench.platform", name, folder=folder) as program:
        yield People(program)


@contextmanager
def our_side(here: People, folder: Path, rest: str) -> Iterator[Side]:
    here.forget()
    began = time.time()
    with signalbox(folder, accounts([here]) + rest) as program:
        yield Side(program, here, here.polled() - began)


@contextmanager
def bare_side(name: str, here: People, folder: Path, base: str, *, stream: bool) -> Iterator[Side]:
    flags = ["--stream"] if stream else []
    here.forget()
    began = time.time()
    account = json.dumps(here.account())
    with bare_handler(f"bench.bare_{name}", "--api-base", base, "--account", account, *flags, folder=folder) as program:
        yield Side(program, here, here.polled() - began)


def accounts(everybody: Sequence[People]) -> str:
    """The settings of all these accounts."""
    tables = (one.account(messages_per_second=UNBOUND) for one in everybody)
    lines = ["\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) for table in tables]
    return "".join(f"[[accounts]]\n{table}\n" for table in lines)


async def home(folder: Path, here: People, role: Role = Role.USER) -> Path:
    """A folder with a store in which everybody who is `here` is known, each as a person of their own."""
    data = made(made(folder) / "var")
    data.chmod(0o700)
    store = await open_store(f"sqlite:///{data}/signalbox.db")
    try:
        await asyncio.gather(*(store.people.add_person(one, role, [one], actor="bench") for one in here.identities))
    finally:
        await store.close()
    return folder


# --------------------------------------------------------------------------------------------------- the figures


def one_by_one(here: Stage, count: int) -> list[Figure]:
    """Each message in a room of its own, the two sides in turns."""
    in_turns(here, WARM)
    before = (here.bare.program.processor_seconds, here.ours.program.processor_seconds)
    bare_times, our_times = in_turns(here, count)
    bare_used = here.bare.program.processor_seconds - before[0]
    our_used = here.ours.program.processor_seconds - before[1]
    names = f"reply {here.channel}, {here.how}, p50", f"processor time {here.channel}, {here.how}"
    return sides.one_by_one(names, Took(our_times, our_used), Took(bare_times, bare_used), here.folder, LIFTED)


def in_turns(here: Stage, count: int) -> tuple[list[float], list[float]]:
    """Seconds of each reply: the bare handler's, and ours."""
    pairs = [
        (here.bare.people.load(chats=1, messages=1), here.ours.people.load(chats=1, messages=1)) for _ in range(count)
    ]
    return [bare.times[0] for bare, _ in pairs], [ours.times[0] for _, ours in pairs]


def many(here: Stage, size: tuple[int, int, int]) -> list[Figure]:
    chats, each, rounds = size
    ours, bare = list[Round](), list[Round]()
    for number in range(rounds):
        for side, told in ((here.bare, bare), (here.ours, ours)):
            again = (
                partial(side.people.again, each) if number else partial(side.people.load, chats=chats, messages=each)
            )
            told.append(round_of(here, side, again))
    name = f"{here.channel}, {chats} chats, {here.how}"
    return sides.many((f"throughput {name}", f"processor time {name}"), ours, bare)


def round_of(here: Stage, side: Side, talk: Callable[[], Told]) -> Round:
    used, model_used = side.program.processor_seconds, here.model.processor_seconds
    told = talk()
    return Round(told, side.program.processor_seconds - used, here.model.processor_seconds - model_used)


async def starts_and_memory(name: str) -> list[Figure]:
    """In turns, and only the starts after the first, which makes the database."""
    ours, bare, idle = [], [], []
    nobody = "http://127.0.0.1:9/v1"
    told = settings(nobody, stream=True, preload=False)
    with tempfile.TemporaryDirectory() as place, people(name, Path(place)) as here:
        folder = await home(Path(place) / "ours", here)
        for number in range(STARTS + 1):
            with our_side(here, folder, told) as side:
                idle.append(settled(side.program))
                if number:
                    ours.append(side.started)
            if number:
                with bare_side(name, here, Path(place), nobody, stream=True) as side:
                    bare.append(side.started)
    return at_rest(name, ours, bare, idle)


def at_rest(name: str, ours: Sequence[float], bare: Sequence[float], idle: Sequence[float]) -> list[Figure]:
    """From the seconds of each start and the megabytes of each idle process of ours."""
    most = at_most(0.8 * middle(bare) + 0.2)
    return [
        Figure(f"start to first poll, {name}", middle(ours), "s", middle(bare), most, "0.8 x bare + 0.2 s"),
        Figure(f"memory, idle, {name}", middle(idle), "MB", None, at_most(IDLE), f"goal {IDLE_GOAL:.0f} MB"),
    ]
