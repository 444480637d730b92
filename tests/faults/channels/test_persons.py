"""Ask a person and be told what they pressed; take back what was approved: on each platform, by the buttons of its cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.faults.channels.rounds import rig_of, shown, usually_on
from tests.faults.channels.test_conversation import OPEN_TO_ALL, kinds, told
from tests.faults.program import living, until
from tests.faults.stage import Rows, Stage, stage


async def card_with(rig: Rig, place: Place, *labels: str) -> OnScreen:
    """The first message of a room, once it has these buttons and no others."""

    async def look() -> OnScreen | None:
        first = next(iter(await rig.visible(place)), None)
        return first if first and [press.label for press in first.buttons] == list(labels) else None

    return await until(look, f"the buttons {labels} in {place}")


def notes(on: Stage, name: str) -> list[str]:
    return [path.read_text() for path in (on.program.data / "workspaces").glob(f"*/{name}.txt")]


@pytest.mark.timeout(120)  # seconds; about five where nothing else runs
@usually_on("discord")
async def test_the_person_who_is_asked_answers_by_a_button(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        for number, place in enumerate(kinds(rig), 1):
            await rig.say(place, f"ask me which colour {number}? red, dark green or none")
            card = await card_with(rig, place, "red", "dark green", "none", "Answer…")
            assert f"which colour {number}?" in card.text
            if not place.direct:
                await told(rig, await rig.click(place, card, "red", user=rig.stranger))
            await rig.click(place, card, "dark green")
            card, answer = await shown(rig, place, 2)
            assert card.buttons == ()
            assert "Answered" in card.text
            assert "dark green" in card.text
            assert 'answered: "dark green"' in answer.text.replace("&quot;", '"')
        await on.until_quiet()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT DISTINCT kind, state FROM approvals") == [("answer", "answered")]
        assert rows.disagreements() == []
        await on.program.leave()


@pytest.mark.timeout(120)  # seconds; about five where nothing else runs
@usually_on("telegram")
async def test_an_approved_write_is_taken_back_by_a_button(kind: str, tmp_path: Path) -> None:
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        for number, place in enumerate(kinds(rig), 1):
            await rig.say(place, f"write hello to note{number}.txt")
            await rig.click(
                place,
                await card_with(rig, place, "Approve", "Deny", "Edit…", "Why?", "This conversation", "Always…"),
                "Approve",
            )
            card = await card_with(rig, place, "Undo")
            assert "Approved" in card.text
            assert notes(on, f"note{number}") == ["hello"]
            if not place.direct:
                await told(rig, await rig.click(place, card, "Undo", user=rig.stranger))
                assert notes(on, f"note{number}") == ["hello"]
            await rig.click(place, card, "Undo")
            await undone(rig, place)
            assert notes(on, f"note{number}") == []
            await card_with(rig, place)
        await on.until_quiet()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT DISTINCT kept FROM undos") == [("",)]
        assert rows.disagreements() == []
        await on.program.leave()


async def undone(rig: Rig, place: Place) -> None:
    async def look() -> bool | None:
        return "Undone" in (await rig.visible(place))[0].text or None

    await until(look, f"who took it back in {place}")
