"""`/mode`, `/away` and `/back`: who may give them, who reads the answer, and what is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import Address, Commanded, Identity, Outcome
from runtime.policy.modes import Mode
from runtime.store.protocol import Taken
from tests.contract.store.stage import ADA, OTTO, ROOM, UMA, VERA, Stage

THREAD = replace(ROOM, thread="17.0")
CHOICES = "Choose `/mode normal`, `read-only`, `plan`, or `trusted 2h`. Rules that deny something apply in every mode."


async def give(
    stage: Stage, name: str, argument: str = "", *, actor: Identity = ADA, at: Address = ROOM, private: int = 2000
) -> Taken:
    signal = stage.signal(Commanded(name, argument), actor=actor, at=at)
    return await stage.take_in(replace(signal, private=private))


async def told(stage: Stage, at: Address = ROOM) -> str:
    """The newest thing that waits to be shown in a room."""
    return (await stage.waiting(at))[-1].delivery.content.text


# ----------------------------------------------------------------------------------------------------------------- mode


async def test_a_change_of_mode_is_read_by_everybody_and_audited(stage: Stage) -> None:
    taken = await give(stage, "mode", "read-only", actor=OTTO)
    assert (taken.verdict.outcome, taken.verdict.notice) == (Outcome.DECIDED, None)
    assert await told(stage) == (
        "Otto set the mode in this room and all its threads to read-only: I look things up, and change nothing."
    )
    assert await stage.audit("mode set") == [("Otto", str(ROOM), "read-only")]


async def test_the_mode_is_told_in_private_with_who_set_it(stage: Stage) -> None:
    first = await give(stage, "mode", actor=VERA)
    assert (
        first.verdict.notice
        == f"The mode here is normal: I look things up without asking, and ask before I change anything.\n\n{CHOICES}"
    )
    await give(stage, "mode", "plan", actor=OTTO)
    stage.clock.advance(hours=3)
    later = await give(stage, "mode", actor=VERA, at=THREAD)
    assert later.verdict.notice == (
        "The mode here is plan: I ask once about everything I want to change, and start when it's approved. "
        f"Set by Otto 3 hours ago.\n\n{CHOICES}"
    )


@pytest.mark.parametrize("actor", [UMA, VERA])
async def test_only_operators_and_owners_change_it(stage: Stage, actor: Identity) -> None:
    taken = await give(stage, "mode", "normal", actor=actor)
    assert taken.verdict.notice == "Only operators and owners can change the mode."
    assert await stage.column("SELECT count(*) FROM modes") == [0]
    assert taken.deliveries == ()


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        ("yolo", "I don't know that mode. Choose `/mode normal`, `read-only`, `plan`, or `trusted 2h`."),
        (
            "read-only for ever",
            "I don't know that mode. Choose `/mode normal`, `read-only`, `plan`, or `trusted 2h`.",
        ),
        ("trusted", "Please say for how long, up to 24 hours: `/mode trusted 2h`, or `/mode trusted until 18:00`."),
        (
            "trusted 25h",
            "That's too long. Please say for how long, up to 24 hours: `/mode trusted 2h`, "
            "or `/mode trusted until 18:00`.",
        ),
        (
            "trusted until 18:00",
            "I don't know your time zone. Set it with `/timezone Europe/Berlin`, or say how long, such as `2h`.",
        ),
    ],
)
async def test_what_is_no_mode_is_refused_in_private(stage: Stage, argument: str, answer: str) -> None:
    taken = await give(stage, "mode", argument)
    assert (taken.verdict.notice, taken.deliveries) == (answer, ())
    assert await stage.column("SELECT count(*) FROM modes") == [0]


async def test_trust_ends_by_the_clocks_of_whoever_gives_it(stage: Stage) -> None:
    await stage.say("/timezone Europe/Berlin")
    await stage.say("/mode trusted until 18:00")
    assert await told(stage) == (
        "Ada set the mode in this room and all its threads to trusted until "
        "[2026-03-01 17:00 UTC](time:2026-03-01T17:00:00Z): I change things for Ada without asking, unless it's dangerous."
    )
    assert await stage.audit("mode set") == [("Ada", str(ROOM), "trusted until 2026-03-01 17:00 UTC")]


async def test_status_tells_of_a_mode_that_is_not_the_usual_one(stage: Stage) -> None:
    await give(stage, "mode", "read-only")
    status = await give(stage, "status", at=THREAD)
    assert (
        status.verdict.notice
        == "Right now in this room:\n\n- the mode is read-only: I look things up, and change nothing"
    )
    await give(stage, "mode", "normal")
    assert (await give(stage, "status")).verdict.notice == "Nothing is running here. I'm ready."


async def test_one_mode_a_conversation_is_kept_and_what_is_over_goes(stage: Stage) -> None:
    for argument in ("read-only", "trusted 2h", "trusted 3h"):
        await give(stage, "mode", argument)
    assert await stage.column("SELECT mode FROM modes") == ["trusted"]
    stage.clock.advance(hours=4)
    await give(stage, "mode", "plan", at=THREAD)
    assert await stage.column("SELECT mode FROM modes") == ["plan"]


async def test_trust_in_somebody_who_is_merged_is_in_who_they_are(stage: Stage) -> None:
    await give(stage, "mode", "trusted 2h", actor=OTTO)
    await stage.store.people.merge("Otto", into="Ada", actor="test")
    assert (await stage.store.runs.mode_at("main", ROOM)).person_name == "Ada"


async def test_nobody_is_trusted_who_was_removed(stage: Stage) -> None:
    await give(stage, "mode", "trusted 2h", actor=OTTO)
    await stage.store.people.remove("Otto", actor="test")
    assert (await stage.store.runs.mode_at("main", ROOM)).person is None


async def test_a_mode_of_a_newer_version_changes_nothing(stage: Stage) -> None:
    await give(stage, "mode", "plan")
    await stage.write("UPDATE modes SET mode = 'careful'")
    assert (await stage.store.runs.mode_at("main", ROOM)).mode == "read-only"


async def test_operators_see_every_mode_and_set_one_which_the_room_reads(stage: Stage) -> None:
    ada = await stage.store.people.identified(ADA)
    assert ada is not None
    await give(stage, "mode", "trusted 2h", actor=OTTO, at=THREAD)
    stage.clock.advance(seconds=1)
    await stage.store.approvals.set_mode("main", ROOM, Mode.READ_ONLY, ada, "command line of kim")
    assert [(at, one.mode, one.set_by_name) for at, one in await stage.store.approvals.modes()] == [
        (ROOM, "read-only", "Ada"),
        (THREAD, "trusted", "Otto"),
    ]
    assert (await told(stage)).startswith("Ada set the mode in this room and all its threads to read-only")
    assert (await stage.audit("mode set"))[-1] == ("command line of kim", str(ROOM), "read-only")
    stage.clock.advance(hours=3)
    assert [at for at, _ in await stage.store.approvals.modes()] == [ROOM]


# ------------------------------------------------------------------------------------------------------------- absences


async def test_somebody_says_until_when_they_are_away_and_that_they_are_back(stage: Stage) -> None:
    until = "You're away until [2026-03-03 12:00 UTC](time:2026-03-03T12:00:00Z). Until then, I'll ask others. `/back` ends that sooner."
    not_away = "You aren't away. Before you go, tell me: `/away until Monday`, or `/away 2d`."
    said = []
    for name, argument in (("away", ""), ("away", "2d"), ("away", ""), ("back", ""), ("back", ""), ("away", "")):
        said.append((await give(stage, name, argument, actor=OTTO)).verdict.notice)
    assert said == [not_away, until, until, "Welcome back. I'll ask you again from now on.", not_away, not_away]
    [(away, _, detail)] = await stage.audit("away")
    assert (away, detail) == ("Otto", "until 2026-03-03 12:00 UTC")
    assert [who for who, *_ in await stage.audit("back")] == ["Otto"]


@pytest.mark.parametrize("words", ["off", "back", "OFF "])
async def test_away_off_is_back(stage: Stage, words: str) -> None:
    await give(stage, "away", "2d")
    assert (await give(stage, "away", words)).verdict.notice == "Welcome back. I'll ask you again from now on."


async def test_an_absence_ends_at_its_time(stage: Stage) -> None:
    await give(stage, "away", "2h")
    stage.clock.advance(hours=2)
    assert (await give(stage, "away")).verdict.notice == (
        "You aren't away. Before you go, tell me: `/away until Monday`, or `/away 2d`."
    )


async def test_an_absence_is_read_in_the_zone_of_the_person_and_is_no_longer_than_a_year(stage: Stage) -> None:
    await stage.say("/timezone Europe/Berlin", actor=OTTO)
    assert "2026-03-01 23:00 UTC" in str((await give(stage, "away", "until Monday", actor=OTTO)).verdict.notice)
    refused = await give(stage, "away", "until 2028-01-01", actor=OTTO)
    assert refused.verdict.notice == "That's more than a year. Please name an earlier day."


async def test_the_absence_of_a_removed_person_goes_with_them(stage: Stage) -> None:
    await give(stage, "away", "2d", actor=OTTO)
    await stage.store.people.remove("Otto", actor="test")
    assert await stage.column("SELECT count(*) FROM absences") == [0]


async def test_a_viewer_is_asked_nothing_and_cannot_be_away(stage: Stage) -> None:
    assert (await give(stage, "away", "2d", actor=VERA)).verdict.outcome is Outcome.REFUSED
