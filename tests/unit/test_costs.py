"""What a message costs, counted and not timed: calls of our functions from a text to the channel's being asked to show the answer.

A time says little on a machine that others use, and a count says where it went. Each message stands in a room of its own, where
nothing is known from an earlier one. Beside it run heartbeats, the poller and the sealer, which may fall into a round: so the
round with the fewest calls counts.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

from runtime.contract import Address, Said, Signal
from runtime.domain.ids import new_id
from tests.unit.bot.notebook import ADA, Notebook, Running, running
from tests.walks import step_of

ROUNDS: Final = 5
"""The first one warms the process up."""
CALLS_MAX: Final = 920
"""Calls of our functions for a message, which are 860 to 870. It was 2,010 when each tool was asked of each rule, twice."""
RULES: Final = 200
TRIGGERS: Final = 100
GLOBS: Final = ("*", "notebook:*/{}-*")
TRIGGERS_CALLS_MAX: Final = CALLS_MAX // 20
"""Calls that a hundred triggers may add: 5 % of a message. Each room is new here, so this is with its triggers found."""


class Calls:
    """Calls of each function, on whichever thread; a generator's next step counts as one."""

    def __init__(self) -> None:
        self.by_code: Counter[CodeType] = Counter()
        self._is_on = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or not self._is_on:
            return
        if frame.f_code is Notebook.show.__code__:
            self._is_on = False
        self.by_code[frame.f_code] += 1

    def begin(self) -> None:
        self.by_code, self._is_on = Counter(), True

    @property
    def ours(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for code, count in self.by_code.items():
            if step := step_of(code):
                found[".".join(step)] += count
        return found

    @contextmanager
    def watching(self) -> Iterator[None]:
        """This thread, and every one that is started inside the block."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


async def message(
    folder: Path, rules: Sequence[Mapping[str, str]] = (), triggers: Sequence[Mapping[str, object]] = ()
) -> Counter[str]:
    """Calls of our functions for one message where these rules hold, and these triggers wait."""
    calls, rounds = Calls(), list[Counter[str]]()
    with calls.watching():
        async with running(
            folder, [f"answer {n}." for n in range(ROUNDS)], policy=list(rules), triggers=list(triggers)
        ) as at_work:
            for number in range(ROUNDS):
                calls.begin()
                await said(at_work, number)
                rounds.append(calls.ours)
    return min(rounds[1:], key=Counter.total)


async def said(at_work: Running, number: int) -> None:
    room = Address("notebook", "notebook-1", f"room{number}")
    await at_work.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", room, Said("hello"), datetime.now(UTC)))
    await at_work.notebook.until(f"answer {number}.")


async def test_a_message_calls_few_functions(tmp_path: Path) -> None:
    found = await message(tmp_path)
    sys.stdout.writelines(f"{count:6} {name}\n" for name, count in found.most_common(40))
    assert found.total() <= CALLS_MAX


async def test_rules_of_tools_cost_a_message_nothing(tmp_path: Path) -> None:
    rules = [{"tool": f"tool_{number}", "result": "ask"} for number in range(RULES)]
    plain = (await message(tmp_path / "plain")).total()
    ruled = (await message(tmp_path / "ruled", rules)).total()
    assert ruled <= plain + 2 * RULES  # asked of each tool, they were 9,000 more; what is due each second comes beside


async def test_triggers_cost_a_message_that_none_waits_for_next_to_nothing(tmp_path: Path) -> None:
    triggers = [
        {
            "name": f"t{number}",
            "on": "words",
            "words": [f"word{number}"],
            "prompt": "Look.",
            "room": GLOBS[number % 2].format(number),
        }
        for number in range(TRIGGERS)
    ]
    plain = (await message(tmp_path / "plain")).total()
    waited_for = (await message(tmp_path / "triggers", triggers=triggers)).total()
    sys.stdout.write(f"{plain} {waited_for}\n")
    assert waited_for <= plain + TRIGGERS_CALLS_MAX
