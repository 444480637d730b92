"""Killed between the commit and the answer: the sender gets none, repeats, and it counts once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from tests.faults.program import Kill, Program, living, until
from tests.faults.stage import Rows, audit_of

SECRET: Final = "0123456789abcdef0123456789abcdef"
HOOKS: Final = [{"name": "deploys", "to": "web:main/ops001", "secret": SECRET}]
DELIVERY: Final = {"X-Signalbox-Token": SECRET, "X-GitHub-Delivery": "72d3162e-cc78-11e3"}


async def deliver(program: Program, *, at_once: int = 1) -> list[tuple[int, Any] | None]:
    """The delivery, sent so often side by side; None where no answer came."""
    url = f"{await program.up()}/hooks/deploys"

    async def send(http: aiohttp.ClientSession) -> tuple[int, Any] | None:
        try:
            async with http.post(url, json={"version": "4.2"}, headers=DELIVERY) as answer:
                return answer.status, await answer.json()
        except aiohttp.ClientError:
            return None

    async with aiohttp.ClientSession() as http:
        return await asyncio.gather(*(send(http) for _ in range(at_once)))


@pytest.mark.timeout(120)  # seconds; about five where nothing else runs
async def test_a_kill_before_the_answer_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """Design 11, scenario 10."""
    (data := tmp_path / "data").mkdir()
    program = Program(data, "--set", f"hooks={json.dumps(HOOKS)}")
    rows = Rows(data / "signalbox.db")

    async def answered() -> bool | None:
        return rows.select("SELECT 1 FROM signals WHERE answered_at IS NOT NULL") == [(1,)] or None

    async with living(program, [Kill("accepted")]):
        assert await deliver(program, at_once=8) == [None] * 8
        await program.spent.wait()
        [again] = await deliver(program)
        [(ident,)] = rows.select("SELECT id FROM signals")
        assert again == (200, {"id": ident, "duplicate": True})
        await until(answered, "an answer")
        await program.leave()
    assert rows.select("SELECT count(*) FROM deliveries WHERE kind = 'final'") == [(1,)]
    assert (await audit_of(data))["whole"]
