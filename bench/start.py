"""From start to ready, beside a bare handler until it listens, in turns; and what the model's client costs until an answer."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, middle, ratio_at_most
from bench.load import load
from bench.program import Program, helper, signalbox
from bench.reply import settings

ROUNDS: Final = 5
GOAL: Final = 1.0  # seconds, told beside the bound
NOWHERE: Final = "http://127.0.0.1:9/v1"  # no model is asked
SETTINGS: Final = f'[web]\nport = 0\n[model]\nname = "openai/mock"\napi_base = "{NOWHERE}"\napi_key = "none"\n'

LOADING: Final = 2.0  # seconds of processor time, source: issue 16
FIRST: Final = 1.5  # of a later answer, once the client is loaded
LATER: Final = 9  # messages
QUIET: Final = 0.5  # seconds with next to no work: then it is loaded
IDLE: Final = 0.1  # of a processor
LONGEST: Final = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Loaded:
    """`processor` seconds of loading ahead, and the seconds of the first answer and of a later one."""

    processor: float
    first: float
    later: float


async def start(short: bool) -> list[Figure]:
    """The first start makes the database, so it is told apart; the bound is for the ones after it."""
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with signalbox(folder, SETTINGS) as program:
            first = program.seconds
        for _ in range(1 if short else ROUNDS):
            with helper("bench.bare", "--api-base", NOWHERE, folder=folder) as handler:
                bare.append(handler.seconds)
            with signalbox(folder, SETTINGS) as program:
                ours.append(program.seconds)
    most = at_most(0.8 * middle(bare) + 0.2)
    return [
        Figure("first start", first, "s", note="makes the database"),
        Figure("start to ready", middle(ours), "s", middle(bare), most, f"0.8 x bare + 0.2 s; goal {GOAL:.2f} s"),
        *_client(1 if short else ROUNDS),
    ]


def _client(rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        told = settings(f"{model.url}/v1", stream=True)
        seen = [_loaded(Path(name), told) for _ in range(rounds)]
    first, later = middle([one.first for one in seen]), middle([one.later for one in seen])
    return [
        Figure("processor time of loading the model's client", middle([one.processor for one in seen]), "s", None,
               at_most(LOADING), "ahead, with a first call that reaches nobody"),
        Figure("first answer after a start", first * 1e3, "ms", later * 1e3, ratio_at_most(FIRST),
               "once loaded; beside: a later one"),
    ]  # fmt: skip


def _loaded(folder: Path, told: str) -> Loaded:
    """In one start."""
    with signalbox(folder, told) as program:
        begun = program.processor_seconds
        used = _rested(program) - begun
        times = load("page", program.link, chats=1, messages=1 + LATER, folder=folder).times
    return Loaded(used, times[0], middle(times[1:]))


def _rested(program: Program) -> float:
    """The processor seconds of `program` when it has been quiet for a while, some time after its start."""
    time.sleep(2 * QUIET)
    end = time.monotonic() + LONGEST
    used = program.processor_seconds
    while time.monotonic() < end:
        time.sleep(QUIET)
        before, used = used, program.processor_seconds
        if used - before < IDLE * QUIET:
            break
    return used
