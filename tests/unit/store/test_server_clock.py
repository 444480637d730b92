"""The server's clock, carried on here: what a look at it proves."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.store.sql.driver import EPOCH, Rows
from runtime.store.sql.postgres import ServerClock
from runtime.store.sql.wire.pipeline import Script

START = timedelta(days=20_000)


class Server:
    """Answers with its time, which it reads after the question was `before` seconds on its way, and the answer `behind`."""

    def __init__(self) -> None:
        self.tick = 0.0
        self.is_ahead = timedelta()
        self.before = self.behind = 0.0

    async def run_script(self, _script: Script) -> list[Rows]:
        self.tick += self.before
        told = self.at
        self.tick += self.behind
        return [[(told // timedelta(microseconds=1),)]]

    @property
    def at(self) -> timedelta:
        return START + timedelta(seconds=self.tick) + self.is_ahead


async def off(server: Server, clock: ServerClock) -> timedelta:
    """Lead of our clock after one more look."""
    await clock.look(server)
    return clock() - EPOCH - server.at


@pytest.mark.parametrize(("before", "behind"), [(0.0, 600.0), (600.0, 0.0), (4.0, 0.0)])
async def test_a_process_that_was_frozen_while_it_asked_keeps_the_right_time(before: float, behind: float) -> None:
    """Half of the way would be minutes off, and everything that waits for its time would be moved by that."""
    server = Server()
    clock = ServerClock(lambda: server.tick)
    assert await off(server, clock) == timedelta()
    server.before, server.behind = before, behind
    assert await off(server, clock) == timedelta()


@pytest.mark.parametrize("step", [timedelta(hours=1), -timedelta(hours=1)])
async def test_a_clock_that_was_set_is_noticed_whatever_a_look_takes(step: timedelta) -> None:
    server = Server()
    clock = ServerClock(lambda: server.tick)
    await clock.look(server)
    server.is_ahead = step
    server.before = server.behind = 2.0
    assert abs(await off(server, clock)) <= timedelta(seconds=2)
    server.before = server.behind = 0.01
    assert await off(server, clock) == timedelta()
