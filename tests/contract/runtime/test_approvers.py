"""Questions and their approvers: whom one reaches, in which rooms, and with which buttons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from runtime.contract import Addressing, Choice, Clicked, Identity, Outcome, Role, Said
from runtime.domain.approvals import Rights
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.approvers import (
    ASKS,
    CALL,
    EXPIRES,
    GENERAL,
    NAMED,
    OWNERS,
    alone,
    asked_in_general,
    cards,
    only,
    shell,
    tell,
)
from tests.contract.runtime.stage import ADA, OTTO, SHELL, UMA, Crash, Stage, crash_at
from tests.contract.runtime.strict import Planned


async def test_who_may_decide_and_is_not_in_the_room_gets_a_copy_in_private(any_stage: Stage) -> None:
    """Scenario 45."""
    process = await asked_in_general(any_stage, private=[ADA, OTTO])
    here, ada, otto = await cards(any_stage, GENERAL, "ada", "otto")
    assert here == (
        f"**May I run `shell`?**\n\nUma asks in #general · shell · danger · {EXPIRES}\n\n“look”\n\n{CALL}\n\n"
        "I've asked Ada and Otto."
    )
    asked = f"**May I run `shell`?**\n\nUma asks in #general · shell · danger · {EXPIRES}\n\n{CALL}"
    assert (ada, otto) == (f"{asked}\n{OWNERS}", f"{asked}\n{ASKS}")
    assert (await process.click((await only(any_stage)).id, who=OTTO, room="otto")).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1
    for card in [(await any_stage.screen(GENERAL))[0], *await cards(any_stage, "ada", "otto")]:
        assert card.startswith("✅ **Approved** by Otto, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): `shell`")
        assert "[Deny]" not in card


async def test_who_is_in_the_room_gets_no_copy_and_the_card_there_has_buttons(stage: Stage) -> None:
    await asked_in_general(stage, there=[ADA], private=[ADA, OTTO])
    here, ada, otto = await cards(stage, GENERAL, "ada", "otto")
    assert here.endswith(f"I've asked Otto.\n{OWNERS}")
    assert ada == "hello"
    assert otto.endswith(f"{CALL}\n{ASKS}")


async def test_where_only_the_room_is_to_be_asked_the_call_stays_there(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("room",)))
    await asked_in_general(stage, private=[ADA, OTTO], rules=[rule])
    assert await cards(stage, "ada", "otto") == ["hello", "hello"]
    assert (await cards(stage, GENERAL))[0].endswith(f"\n{OWNERS}")


async def test_where_only_private_rooms_are_to_be_asked_the_room_is_told_whom_and_not_the_call(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("dm",)))
    process = await asked_in_general(stage, private=[ADA], rules=[rule])
    assert await cards(stage, GENERAL) == ["**May I run `shell`?** I've asked Ada."]
    await process.click((await only(stage)).id, Choice.DENY, "no", room="ada")
    await process.answer_all()
    assert (await stage.screen(GENERAL))[0] == (
        "❌ **Denied** by Ada, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): `shell`\n\n> no"
    )


async def test_where_nobody_can_be_asked_in_private_the_room_is_told_so_and_not_the_call(any_stage: Stage) -> None:
    """Its rule wants it kept from the room: whoever may decide finds it in their inbox, and on the console."""
    rule = Rule(Ruling.ASK, "shell", name="quietly", asking=Changes(to=("dm",)))
    with capture_logs() as logs:
        process = await asked_in_general(any_stage, rules=[rule])
    assert await cards(any_stage, GENERAL) == [
        "**May I run `shell`?** I have no private chat with anybody who can decide this. They can open one and send "
        "me the command `approvals`. Operators can also use the console."
    ]
    assert [one["rule"] for one in logs if one["event"] == "nobody reached"] == ["quietly"]
    (waiting,) = await any_stage.store.approvals.inbox(ADA, Rights())
    press = any_stage.signal(Clicked(waiting.approval.id, Choice.APPROVE), ADA, "ada", "")
    assert (await process.reception.sink(replace(press, alone=True))).outcome is Outcome.DECIDED


async def test_who_is_in_the_room_is_asked_in_private_too_where_the_room_is_not(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("dm",)))
    await asked_in_general(stage, there=[ADA], private=[ADA], rules=[rule])
    here, ada = await cards(stage, GENERAL, "ada")
    assert here == "**May I run `shell`?** I've asked Ada."
    assert ada.endswith(OWNERS)


async def test_one_who_may_decide_and_asks_in_private_is_asked_there(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("dm",)))
    process = await stage.process(Planned(SHELL), [shell()], rules=[rule])
    await process.say("look", who=ADA, room="ada")
    await process.answer_all()
    assert (await cards(stage, "ada"))[0].endswith(OWNERS)


async def test_a_question_goes_to_the_rooms_that_a_rule_names(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", asking=Changes(to=("room", "page:main/ops", "page:main/gone")))
    places = replace(NAMED, serves=lambda address: address.room != "gone")
    process = await asked_in_general(stage, rules=[rule], places=places)
    [here] = await cards(stage, GENERAL)
    assert here.endswith("I've asked another room.")
    assert (await process.click((await only(stage)).id, room="ops")).outcome is Outcome.DECIDED
    assert await stage.screen("gone") == []


async def test_a_private_room_without_anybody_who_may_decide_gets_no_buttons(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()])
    await process.say("look", who=UMA)
    await process.answer_all()
    [card] = await stage.screen()
    assert card.endswith("\n\nNobody here can answer this. An operator can, on the console.")


async def test_a_room_of_several_people_keeps_its_buttons_where_nobody_else_can_be_asked(stage: Stage) -> None:
    """Somebody who may decide may be there, and never have said anything."""
    await asked_in_general(stage)
    assert (await cards(stage, GENERAL))[0].endswith(f"\n{OWNERS}")


async def test_nobody_asks_those_who_are_blocked(stage: Stage) -> None:
    await asked_in_general(stage, private=[ADA, OTTO], rights=Rights(blocked=frozenset({"Ada"})))
    assert await cards(stage, "ada") == ["hello"]
    assert (await cards(stage, GENERAL))[0].endswith("I've asked Otto.")


async def test_a_click_counts_only_where_the_question_stands(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, private=[ADA])
    question = (await only(any_stage)).id
    verdict = await process.click(question, room="elsewhere")
    assert verdict.notice == "This question belongs to another room."
    verdict = await process.click(question, who=UMA, room="ada")
    assert verdict.notice == "Only approvers can answer this. I've asked Ada."
    assert (await process.click(question, room="ada")).outcome is Outcome.DECIDED


async def test_one_copy_in_each_room_however_often_its_reader_is_known_there(stage: Stage) -> None:
    other = Identity("page:ada2")
    assert await stage.store.people.add_person("Ada 2", Role.OWNER, [other], actor="test")
    process = await stage.process(Planned(end="hello"), [shell()], places=NAMED)
    for who in (ADA, other):
        await process.say(f"hi, says {who}", who=who, room="ada")
        await process.answer_all()
    await stage.store.people.merge("Ada 2", "Ada", actor="test")
    process.ask(Planned(SHELL))
    await tell(process, "look")
    assert len([card for card in await stage.screen("ada") if "May I run" in card]) == 1


@pytest.mark.parametrize("point", ["approval-stored", "approval-decided"])
async def test_a_kill_leaves_every_copy_as_the_question_stands(point: str, any_stage: Stage) -> None:
    process = await any_stage.process(Planned(end="hello"), [shell()], probe=crash_at(point))
    await alone(process, ADA, OTTO)
    process.ask(Planned(SHELL, end="Linux"))
    signal = replace(any_stage.signal(Said("look"), UMA, GENERAL), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    if point == "approval-stored":
        await process.until_crash()
        process = await any_stage.process(Planned(SHELL, end="Linux"), [shell()])
        await process.answer_all()
        await process.click((await only(any_stage)).id, room="otto", who=OTTO)
    else:
        await process.answer_all()
        with pytest.raises(Crash):
            await process.click((await only(any_stage)).id, room="otto", who=OTTO)
        process = await any_stage.process(Planned(SHELL, end="Linux"), [shell()])
    await process.answer_all()
    assert len(process.tools["shell"].calls) == 1
    shown = [card for room in (GENERAL, "ada", "otto") for card in await any_stage.screen(room) if "`shell`" in card]
    assert len(shown) == 3
    assert all(card.startswith("✅ **Approved** by Otto") for card in shown)
