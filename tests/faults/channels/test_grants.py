"""“Always…” on each platform, by its own kind of form: what was filled in holds for later calls, and for no others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.contract.adapters.rigs.discord import DiscordRig
from tests.contract.adapters.rigs.slack import SlackRig
from tests.contract.adapters.rigs.telegram import TelegramRig, where
from tests.faults.channels.rounds import rig_of, shown
from tests.faults.program import living, until
from tests.faults.stage import PLATFORMS, Rows, stage

THEN = (("git status --short", "done"), ("git status; rm -rf /", "parked"), ("git status", "parked"))
WANTED = {"pattern": "command = git status *", "uses": "1"}


async def send(rig: Rig, place: Place, card: OnScreen, values: Mapping[str, str]) -> None:
    """Press “Always…”, and send its form with `values`."""
    if isinstance(rig, SlackRig):
        await _modal(rig, place, card, values)
    elif isinstance(rig, TelegramRig):
        await _answer(rig, place, card, values)
    else:
        assert isinstance(rig, DiscordRig)
        await _dialog(rig, place, card, values)


async def _modal(rig: SlackRig, place: Place, card: OnScreen, values: Mapping[str, str]) -> None:
    before = len((await rig.driver.screen()).raw["views"])
    await rig.click(place, card, "Always…")

    async def opened() -> bool | None:
        return len((await rig.driver.screen()).raw["views"]) > before or None

    await until(opened, "the form", seconds=30)
    view = (await rig.driver.screen()).raw["views"][-1]
    await rig.driver.do("submit", view=view, values=[[name, name, text] for name, text in values.items()])


async def _answer(rig: TelegramRig, place: Place, card: OnScreen, values: Mapping[str, str]) -> None:
    before = len(await rig.visible(place))
    await rig.click(place, card, "Always…")
    *_, asks = await shown(rig, place, before + 1)
    assert "pattern: command = git status" in asks.text
    text = "\n".join(f"{name}: {words}" for name, words in values.items())
    await rig.driver.say(text, reply_to=int(asks.id), **where(place))


async def _dialog(rig: DiscordRig, place: Place, card: OnScreen, values: Mapping[str, str]) -> None:
    done = await rig.driver.click(card.id, card.button("Always…").payload)

    async def opened() -> str | None:
        answers = (await rig.driver.screen()).answers(done["id"])
        return answers[-1]["text"] if answers else None

    form = json.loads(await until(opened, "the form", seconds=30))
    await rig.driver.do("submit", message=card.id, custom_id=form["custom_id"], values=dict(values))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", PLATFORMS)
async def test_what_was_always_allowed_runs_at_once_until_its_uses_end(kind: str, tmp_path: Path) -> None:
    """Scenarios 25 and 46."""
    async with stage(tmp_path, kind) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        place = rig.rooms().direct
        assert place
        await rig.say(place, "run: git status")
        [card] = await shown(rig, place, 1)
        await send(rig, place, card, {"pattern": "command = *"})  # wider than a dangerous call may be
        await send(rig, place, card, WANTED)
        rows = Rows(on.program.data / "signalbox.db")

        async def given() -> bool | None:
            return rows.select("SELECT room, uses_left FROM grants") == [(str(place.address), 1)] or None

        await until(given, "the grant", seconds=30)
        await on.until_quiet()  # what is said before that joins the work
        for number, (line, state) in enumerate(THEN, 2):
            await rig.say(place, f"run: {line}")

            async def settled(number: int = number) -> list[tuple[str, ...]] | None:
                found = rows.select("SELECT state FROM runs WHERE state IN ('done', 'parked') ORDER BY id")
                return found if len(found) == number else None

            states = await until(settled, f"the end of {line}", seconds=30)
            assert states[-1] == (state,), line
        assert rows.select("SELECT count(*) FROM audit WHERE kind = 'grant used'") == [(1,)]
        await on.program.leave()
