"""From start to ready, beside a bare handler until it listens, in turns."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, middle
from bench.program import helper, signalbox

ROUNDS: Final = 5
GOAL: Final = 1.0  # seconds, told beside the bound
NOWHERE: Final = "http://127.0.0.1:9/v1"  # no model is asked
SETTINGS: Final = f'[web]\nport = 0\n[model]\nname = "openai/mock"\napi_base = "{NOWHERE}"\napi_key = "none"\n'


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
    ]
