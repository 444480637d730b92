"""The time that the leak guard takes for a text of 8,000 characters, with the default detectors and 50 held values."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, high, middle
from runtime.guard.findings import Gate
from runtime.guard.guard import Guard, GuardRules
from runtime.guard.held import Held

ROOT: Final = Path(__file__).parents[1]
TEXT_CHARS: Final = 8000
HELD: Final = 50
ROUNDS: Final = 1000
GUARD_GOAL: Final = 0.2  # ms; source: the design of the leak guard
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def _held(chance: random.Random) -> list[tuple[str, str]]:
    """Keys of usual lengths, and one in ten short as a password."""
    lengths = [10 if number % 10 == 0 else chance.randint(24, 64) for number in range(HELD)]
    return [(f"SECRET_{at}", "".join(chance.choices(LETTERS, k=length))) for at, length in enumerate(lengths)]


def _texts(chance: random.Random, secret: str) -> dict[str, str]:
    """Kinds of text as tools and models give them."""
    page, code = (ROOT / "docs" / "models.md").read_text("utf-8"), Path(__file__).read_text("utf-8")
    rows = [
        {"id": chance.randrange(10**9), "name": "Ada", "sha": f"{chance.getrandbits(160):040x}"} for _ in range(200)
    ]
    log = "".join(
        f"2026-08-01T10:{at % 60:02d}:00Z INFO https://example.org/api/v1/rooms/{at} 200 runtime.agent.loop took 12 ms\n"
        for at in range(200)
    )
    mixed = page[:3000] + code[:2000] + log[:1500] + json.dumps(rows)[:1500]
    texts = {"mixed": mixed, "prose": page, "code": code * 4, "log": log, "json": json.dumps(rows)}
    texts["secret in it"] = f"{mixed[:4000]} {secret} {mixed}"
    return {name: text[:TEXT_CHARS] for name, text in texts.items()}


async def guard(short: bool) -> list[Figure]:
    chance = random.Random(7)
    held = _held(chance)
    made = Guard(GuardRules(key=b"benchmark"), Held(held))
    figures = []
    for name, text in _texts(chance, held[1][1]).items():
        times = _times(made, text, 20 if short else ROUNDS)
        bound = at_most(GUARD_GOAL) if name == "mixed" else None
        figures.append(
            Figure(f"leak guard, {name}, p50", middle(times), "ms", bound=bound, note=f"p99 {high(times):.2f} ms")
        )
    return figures


def _times(made: Guard, text: str, rounds: int) -> list[float]:
    """Milliseconds of each look."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        made.check(text, Gate.TOOL_RESULT)
        times.append((time.perf_counter() - began) * 1000)
    return times
