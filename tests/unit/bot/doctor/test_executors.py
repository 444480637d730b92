"""Programs of agents are tried by doctor, and tools that are only tried are told."""

from __future__ import annotations

from pathlib import Path

from bot.doctor.machine.executors import check_executors
from bot.doctor.subject import Subject
from tests.unit.bot.settings.test_settings import read

PROGRAM = '[[agents]]\nname = "ops"\nexecutor = "subprocess"\n[agents.program]\nsandbox = "external"\n'


async def told(folder: Path, settings: str) -> list[str]:
    found = await check_executors(Subject(read(folder, settings), None, None, None))
    return [one.what for one in found]


async def test_a_program_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    (what,) = await told(tmp_path, f'{PROGRAM}command = ["/bin/sh", "-c", "echo no paper >&2; exit 3"]\n')
    assert what == "it ended at once; its last words: no paper"
    (what,) = await told(tmp_path, f'{PROGRAM}command = ["no-such-agent"]\n')
    assert what.startswith("there is no program 'no-such-agent'")


async def test_canned_results_are_told(tmp_path: Path) -> None:
    (tmp_path / "canned.toml").write_text('[[results]]\ntool = "shell"\nresult = "x"\n')
    assert await told(tmp_path, "") == []
    (what,) = await told(tmp_path, '[tools]\nmock = "canned.toml"\n')
    assert what == f"tools give the canned results of {tmp_path / 'canned.toml'}"
