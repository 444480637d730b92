"""`signalbox tui` as its user has it: the real program at a pseudo-terminal, before a process that lives, dies and comes back."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from tests.e2e.house import ROOT, House, environment, open_house
from tests.e2e.seeding import ROOM, talk
from tests.e2e.sitting import Sitting
from tests.e2e.visitor import visiting

pytestmark = pytest.mark.timeout(180)

MESSAGES: Final = 10_000
OPENS_SECONDS: Final = 10.0
"""For the last messages of so many; alone it takes one or two."""
WORDS: Final = " ".join(f"word{number}" for number in range(30))
AWAY: Final = "Signalbox isn't running"


def test_a_call_is_approved_by_a_key_and_the_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    with open_house(tmp_path), sitting(tmp_path) as screen:
        screen.reads("Nothing is said here yet.")
        screen.says("write hi to a.txt")
        screen.reads("F2 Approvals (1)")
        screen.presses("f2", "a")
        screen.reads("Approved by owner")
        screen.presses("f3")
        screen.reads("Written to `a.txt`")
        screen.presses("f4")
        screen.reads("write_file · done")
        screen.presses("f1")
        screen.reads("Wrote 2 bytes")
        assert screen.left
        screen.presses("ctrl+c")
        assert (screen.ends(), screen.left, screen.drawn.lost) == (0, [], "")


@pytest.mark.soak
def test_a_kill_in_mid_stream_is_told_and_what_was_asked_is_answered_once(tmp_path: Path) -> None:
    with model_at_work() as model, open_house(tmp_path, model_settings(model), variables=KEY) as house:
        script(model, [{"text": WORDS, "delay": 0.2, "slow": True}])
        with sitting(tmp_path, lines=40) as screen:
            screen.reads("Nothing is said here yet.")
            screen.says("count")
            screen.reads("word3")
            house.kill()
            screen.reads(AWAY)
            screen.says("and this came meanwhile")
            screen.reads("waits until Signalbox runs")
            script(model, [{"text": WORDS}, {"text": "That one too."}])
            house.start()
            screen.until(lambda: AWAY not in screen.text)
            screen.reads("That one too.")
            screen.waits(3)
            assert [screen.text.count(words) for words in ("word0 ", "word29", "count\n", "That one too.")] == [1] * 4
            screen.presses("ctrl+q")
            assert (screen.ends(), screen.left) == (0, [])


@pytest.mark.soak
def test_a_long_conversation_opens_soon_and_is_read_back(tmp_path: Path) -> None:
    house = House(tmp_path).start()
    house.leave()
    talk(house.data / "signalbox.db", MESSAGES)
    house.start()
    try:
        with sitting(tmp_path, "--room", ROOM) as screen:
            began = time.monotonic()
            screen.reads(f"Answer {MESSAGES // 2}", OPENS_SECONDS)
            print(f"10,000 messages: the last ones are there after {time.monotonic() - began:.1f} s")  # noqa: T201
            while "The newest" not in screen.text:
                before = screen.text
                screen.presses("ctrl+b")
                screen.until(lambda: screen.text != before)  # noqa: B023 - asked at once
                screen.waits(0.5)
            screen.says("list the files")
            screen.reads("The folder is empty.")
            screen.presses("f5")
            screen.reads("Nothing is said here yet.")
    finally:
        house.kill()


@pytest.mark.soak
def test_a_conversation_that_is_deleted_says_so_and_another_one_begins(tmp_path: Path) -> None:
    with open_house(tmp_path) as house, sitting(tmp_path, "--room", "short1") as screen:
        screen.reads("Nothing is said here yet.")
        screen.says("list the files")
        screen.reads("The folder is empty.")
        assert asyncio.run(deleted(house, "short1")) == 200
        screen.reads("This conversation left the list")
        screen.presses("f5")
        screen.reads("Nothing is said here yet.")
        screen.says("list the files")
        screen.reads("The folder is empty.")


@pytest.mark.soak
@pytest.mark.parametrize("how", ["ctrl+q", "ctrl+c", "SIGTERM", "SIGHUP", "away"])
def test_each_way_out_leaves_the_terminal_as_it_was(how: str, tmp_path: Path) -> None:
    with open_house(tmp_path) as house, sitting(tmp_path) as screen:
        screen.reads("Nothing is said here yet.")
        if how == "away":
            house.kill()
            screen.reads(AWAY)
        if how.startswith("SIG"):
            screen.signals(signal.Signals[how])
        else:
            screen.presses("ctrl+q" if how == "away" else how)
        code = screen.ends()
        assert (code == 0 or how.startswith("SIG"), screen.left) == (True, [])
        if how == "away":
            house.start()


@pytest.mark.soak
def test_forty_columns_and_no_colours(tmp_path: Path) -> None:
    with open_house(tmp_path), sitting(tmp_path, columns=40, lines=12, NO_COLOR="1") as screen:
        screen.reads("Nothing is said here yet.")
        screen.says("write hi to a.txt")
        screen.reads("Waits for a decision")
        screen.presses("f2")
        screen.reads("write_file")
        screen.presses("a")
        screen.reads("Approved by owner")
        screen.presses("f1")
        screen.reads("Wrote 2 bytes")
        screen.resizes(120, 40)
        screen.reads("> write hi to a.txt")
        screen.resizes(20, 5)
        screen.waits(1)
        screen.presses("ctrl+q")
        assert (screen.ends(), screen.left, screen.drawn.colours) == (0, [], False)


@pytest.mark.soak
def test_nothing_that_was_written_steers_the_terminal(tmp_path: Path) -> None:
    evil = "look\u202egpj.exe \x1b]0;title\x07\x1b[2J\x9b31m\u200bend"
    with model_at_work() as model, open_house(tmp_path, model_settings(model), variables=KEY) as house:
        script(model, [{"text": evil}])
        house.command("ask", "--room", "evilroom01", "say it")
        with sitting(tmp_path, "--room", "evilroom01") as screen:
            screen.reads("⟨U+202E⟩")
            screen.reads("end")
            came = screen.came.decode()
            assert not [mark for mark in ("\u202e", "\u200b", "\x1b]0;title", "\x9b31m") if mark in came]


def test_without_a_process_or_a_screen_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    with sitting(tmp_path) as screen:
        assert screen.ends() == 1
        assert "No Signalbox is running with data_dir" in " ".join(screen.text.split())
    with sitting(tmp_path, TERM="dumb") as screen:
        assert (screen.ends(), screen.left) == (2, [])
        assert "TERM is dumb" in screen.text


async def deleted(house: House, room: str) -> int:
    """Status of its deletion on the page."""
    async with visiting(house.link) as owner:
        return (await owner.post(f"/api/rooms/{room}/delete", {"id": uuid4().hex})).status


KEY: Final = {"SLOW_KEY": "sk-slow-000000000000"}


@contextmanager
def sitting(folder: Path, *words: str, columns: int = 80, lines: int = 24, **variables: str) -> Iterator[Sitting]:
    with Sitting(folder, environment(folder, **variables), *words, columns=columns, lines=lines) as screen:
        yield screen


@contextmanager
def model_at_work() -> Iterator[str]:
    """The address of a model that answers by a script."""
    fake = subprocess.Popen(
        [sys.executable, "-m", "bot.testing.openai.server", "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert fake.stdout is not None
    try:
        yield fake.stdout.readline().strip()
    finally:
        fake.stdout.close()
        fake.kill()
        fake.wait()


def model_settings(model: str) -> str:
    return f'[model]\nname = "openai/slow"\napi_base = "{model}/v1"\napi_key_env = "SLOW_KEY"\n'


def script(model: str, replies: Sequence[dict[str, Any]]) -> None:
    asked = urllib.request.Request(
        f"{model}/script", json.dumps(replies).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(asked).close()
