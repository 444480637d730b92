"""Messages a second of one, two and three nodes on one PostgreSQL, each with people of its own at its page.

Each count has a database and processes of its own, which stay open; the first round warms them up, and then the counts take
turns, there and back, so that what else the machine does meets all of them. At the saturation of this machine more nodes can't
do more, and must not do less; where each process is held to half a core, two do nearly twice as much as one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.cpu_share import NoShares, put, share_of_a_core
from bench.failover import made
from bench.figures import Bound, Figure, middle, ratio_at_least
from bench.load import Told, rounds
from bench.program import helper, signalbox
from bench.reply import settings
from tests.fakes.postgres import Postgres

CHATS: Final = 48
"""In all, shared out among the nodes."""
MESSAGES: Final = 10
"""Of each chat in a round, in which its conversation goes on."""
NODE_ROUNDS: Final = 6
SATURATED: Final = ratio_at_least(0.95)
HELD: Final = ratio_at_least(1.6)
HALF: Final = 0.5

Round = Callable[[], float]
"""Messages a second of one more round."""


@dataclass(frozen=True, slots=True)
class Load:
    chats: int
    messages: int
    rounds: int


async def nodes(short: bool) -> list[Figure]:
    size = Load(6, 1, 1) if short else Load(CHATS, MESSAGES, NODE_ROUNDS)
    with Postgres() as server:
        free = _in_turns(server, size, (1, 2) if short else (1, 2, 3), None)
        try:
            held: Sequence[Sequence[float]] = _in_turns(server, size, (1,) if short else (1, 2), HALF)
        except NoShares as error:
            return [
                *_figures(free, SATURATED, ""),
                Figure("nodes at half a core", 0, "messages/s", note=f"not run: {error}"),
            ]
    return [*_figures(free, SATURATED, ""), *_figures(held, HELD, ", each at half a core")]


def _in_turns(server: Postgres, size: Load, counts: Sequence[int], share: float | None) -> list[list[float]]:
    """Messages a second of each round, by the count of nodes."""
    rates: list[list[float]] = [[] for _ in counts]
    with ExitStack() as stack:
        open_ = [stack.enter_context(_nodes(server, size, count, share)) for count in counts]
        for warm in open_:
            warm()
        turns = list(zip(open_, rates, strict=True))
        for number in range(size.rounds):
            for again, told in turns if number % 2 == 0 else turns[::-1]:
                told.append(again())
    return rates


@contextmanager
def _nodes(server: Postgres, size: Load, count: int, share: float | None) -> Iterator[Round]:
    """So many nodes and their people, each with chats that stay open."""
    with (
        tempfile.TemporaryDirectory() as name,
        helper("bench.model", folder=Path(name)) as model,
        ExitStack() as stack,
        ThreadPoolExecutor(count) as pool,
    ):
        told = f'database_url = "{server.create_database()}"\n' + settings(f"{model.url}/v1", stream=False)
        groups = [stack.enter_context(share_of_a_core(f"{count}-node{n}", share)) for n in range(count) if share]
        members = [stack.enter_context(signalbox(made(Path(name) / f"node{n}"), told)) for n in range(count)]
        for group, member in zip(groups, members, strict=False):
            put(group, member.process.pid)
        # One installation: a link opens the page of every node.
        links = [member.url + urlsplit(members[0].link).path for member in members]
        chats, folder = size.chats // count, Path(name)
        crowds = [
            stack.enter_context(rounds("page", link, chats=chats, messages=size.messages, folder=folder))
            for link in links
        ]

        def crowd(again: Callable[[], Told]) -> Told:
            return again()

        def once_more() -> float:
            told_by = list(pool.map(crowd, crowds))
            return sum(one.replies for one in told_by) / max(one.seconds for one in told_by)

        yield once_more


def _figures(rates: Sequence[Sequence[float]], bound: Bound, how: str) -> list[Figure]:
    one = middle(rates[0])
    names = ("1 node", "2 nodes", "3 nodes")
    return [
        Figure(
            f"{name}{how}",
            middle(found),
            "messages/s",
            one if number else None,
            bound if number == 1 else None,
            f"rounds: {', '.join(f'{rate:.0f}' for rate in found)}",
        )
        for number, (name, found) in enumerate(zip(names, rates, strict=False))
    ]
