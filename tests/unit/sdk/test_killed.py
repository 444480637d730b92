"""A program that is killed in the middle: what it had asked is answered once, and told to whoever asks with the same key."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.forked import forked

pytestmark = pytest.mark.timeout(120)


async def life(folder: Path, until: str) -> list[str]:
    """Lines that the program prints up to one; then it ends by SIGKILL."""
    told: list[str] = []
    async with forked("tests.unit.sdk.asking", str(folder), folder=Path.cwd()) as process, asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode().strip():
            told.append(line)
            if line.startswith(until):
                break
    return told


async def test_what_was_asked_is_answered_once_and_an_approved_call_made_once(tmp_path: Path) -> None:
    assert await life(tmp_path, "asked") == ["asked anew"]
    assert await life(tmp_path, "called") == ["asked again", "decided: call", "called"]
    assert await life(tmp_path, "shown") == ["asked again", "decided: outcome", "answered: It was sent.", "shown: 1"]
    assert (tmp_path / "letters").read_text() == "hello\n"
