"""`signalbox tui` by its keys, at a real process: chat, approvals, outbox, runs, restarts and bad rooms."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from bot.operator.client import connected
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.tui.chat import ChatPane, Composer
from bot.tui.link import NOT_RUNNING
from bot.tui.screen import SignalboxTui

PATIENCE_SECONDS = 30.0
LOOK_SECONDS = 0.02
SMALL, LARGE = (80, 24), (120, 40)


def _settings(folder: Path) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text("[web]\nport = 0\n")
    return load(file, environ={"HOME": str(folder)})


class Screen:
    """What stands on it, and a person's keys."""

    def __init__(self, app: SignalboxTui, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)

    async def until(self, holds: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not holds():
                    await self.pilot.pause(LOOK_SECONDS)
        except TimeoutError:
            pytest.fail(f"It never came:\n{self.text}")

    async def reads(self, words: str) -> None:
        await self.until(lambda: words in self.text)

    async def says(self, text: str) -> None:
        await self.pilot.press(*text, "enter")


@asynccontextmanager
async def shown(settings: Settings, size: tuple[int, int] = SMALL, room: str = "") -> AsyncIterator[Screen]:
    app = SignalboxTui(settings, room)
    async with app.run_test(size=size) as pilot:
        yield Screen(app, pilot)


@pytest.mark.timeout(180)  # seconds; about six where nothing else runs
async def test_all_of_it_by_keys_alone(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    async with serving(settings, with_link=False) as ready, connected(ready.control) as operator:
        async with shown(settings) as screen:
            await _speaks_and_decides(screen)
            await _looks_around(screen)
            await _edits_and_asks_back(screen)
        rows = await operator.approvals()
        assert [row["state"] for row in rows] == ["approved", "denied", "denied", "approved"]
        assert "other words" in rows[0]["arguments"]
        room = next(row["room"] for row in await operator.rooms() if "a.txt" in row["title"])
        async with shown(settings, LARGE, room) as screen:  # what was said before is there
            await screen.reads("Wrote 2 bytes")


async def _speaks_and_decides(screen: Screen) -> None:
    await screen.until(lambda: not screen.app.link.trouble)
    await screen.says("write hi to a.txt")
    await screen.reads("F2 Approvals (1)")
    await screen.reads("Waits for a decision: F2 has it.")
    await screen.pilot.resize_terminal(60, 20)  # in the middle of it
    await screen.pilot.press("f2")
    await screen.reads("May I run write_file?")
    await screen.pilot.resize_terminal(*SMALL)
    await screen.pilot.press("a")
    await screen.reads("Approved by owner")
    await screen.pilot.press("f1")
    await screen.reads("Wrote 2 bytes")


async def _looks_around(screen: Screen) -> None:
    await screen.pilot.press("f3")
    await screen.reads("Written to `a.txt`")
    await screen.pilot.press("j", "r")
    await screen.reads("is neither on hold nor dead")
    await screen.pilot.press("f4")
    await screen.reads("write_file · done")
    await screen.pilot.press("s", "y")
    await screen.reads("This run is over already.")


async def _edits_and_asks_back(screen: Screen) -> None:
    """Two dangerous calls selected and denied together, then one edited. The first is approved by two presses at most."""
    await screen.pilot.press("f1", "f5")
    await screen.says("run: uname -a")
    await screen.reads("F2 Approvals (1)")
    await screen.pilot.press("f5")
    await screen.says("run: hostname")
    await screen.reads("F2 Approvals (2)")
    await screen.pilot.press("f2", "k", "k", "k")
    await screen.reads("! shell")
    await screen.pilot.press("a")
    await screen.reads("Press A again")
    await screen.pilot.press("w")
    await screen.reads("Ask the agent about this call")
    await screen.pilot.press("escape", "x", "j", "x")
    await screen.reads("[x] ! shell")
    await screen.pilot.press("d")
    await screen.until(lambda: screen.text.count("Denied by owner") >= 2)
    await screen.pilot.press("f1", "f5")
    await screen.says("write hi to b.txt")
    await screen.reads("F2 Approvals (1)")
    await screen.pilot.press("f2", "k", "k", "k", "k")
    await screen.reads("b.txt")
    await screen.pilot.press("e")
    await screen.reads("Edit the call")
    area = screen.app.screen.query_one("#dialog-text")
    area.text = '{"content": "other words", "path": "b.txt"}'  # type: ignore[attr-defined]
    await screen.pilot.press("ctrl+s")
    await screen.reads("approved, as edited")


async def test_what_was_written_while_nothing_runs_is_answered_once_by_the_next_process(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    async with shown(settings, room="waiting0") as screen:
        await screen.reads(NOT_RUNNING[:30])
        await screen.says("list the files")
        await screen.reads("waits until Signalbox runs")
        for _ in range(2):  # the second one finds it answered
            async with serving(settings, with_link=False) as ready, connected(ready.control) as operator:
                await screen.until(lambda: not screen.app.link.trouble)
                await screen.until(lambda: not screen.app.query_one(ChatPane)._unsent)
                await screen.reads("The folder is empty.")
                view = await operator.room("waiting0")
                assert [entry["author"] for entry in view["entries"]] == ["person", "agent"]
            await screen.reads(NOT_RUNNING[:30])
        await screen.pilot.press(*"kept")
        assert screen.app.query_one(Composer).text == "kept"
