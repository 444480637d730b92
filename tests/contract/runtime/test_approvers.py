"""Questions and their approvers: what a card tells, whom it reaches, on which terms it is decided, and what comes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from runtime.chat.audience import Places
from runtime.contract import (
    Address,
    Addressing,
    Call,
    Card,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Choice,
    Clicked,
    Content,
    Effect,
    Identity,
    Outcome,
    Role,
    Said,
    ToolTurn,
)
from runtime.domain.approvals import Approval, Rights
from runtime.domain.ids import new_id
from runtime.markup import parse
from runtime.markup.plain import to_plain
from runtime.markup.tree import CodeBlock
from runtime.policy.grants import form_of
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes, Terms
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import (
    ADA,
    ANYONE,
    OTTO,
    SHELL,
    STRANGER,
    UMA,
    VERA,
    Crash,
    FakeTool,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned

GENERAL: Final = "general"
NAMED: Final = Places(room_name=lambda address: f"#{address.room}" if address.room == GENERAL else "")
CALL: Final = "```\nuname -a\n```"
ASKS: Final = "[Approve]\n[Deny]\n[Edit…]\n[Why?]"
OWNERS: Final = f"{ASKS}\n[This conversation]\n[Always…]"
FORM: Final = form_of(fake_tool("shell", Effect.DANGER).spec, "")
EXPIRES: Final = "expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) (in 12 h)"


def shell() -> FakeTool:
    return fake_tool("shell", Effect.DANGER)


async def tell(process: Process, words: str, *, who: Identity = UMA, room: str = GENERAL) -> None:
    """Somebody says something in a room of several people, and all there is to do is done."""
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


# ------------------------------------------------------------------------------------------------- what a card tells


async def test_a_card_tells_who_asks_where_how_risky_it_is_and_until_when(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()], places=NAMED)
    await tell(process, "please look at\nthe kernel", who=ADA)
    [card] = await any_stage.screen(GENERAL)
    assert card == (
        f"**May I run `shell`?**\n\nAda asks in #general · shell · danger · {EXPIRES}\n\n"
        f"“please look at the kernel”\n\n{CALL}\n{OWNERS}"
    )


async def test_a_card_names_the_rule_that_asks(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", name="kernel_*", asking=Changes())
    process = await stage.process(Planned(SHELL), [shell()], rules=[rule])
    await tell(process, "look", who=ADA)
    [card] = await stage.screen(GENERAL)
    assert card.split("\n\n")[1] == f"Ada asks · shell · danger · rule kernel\\_\\* · {EXPIRES}"


async def test_a_denial_names_the_rule_that_denies(stage: Stage) -> None:
    model = Planned(SHELL, end="then not")
    process = await stage.process(model, [shell()], rules=[Rule(Ruling.DENY, "shell", name="no shells")])
    await tell(process, "look")
    [result] = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert result == "denied: the rule 'no shells' does not allow it."


async def test_a_schedules_card_says_which_schedule_asks(any_stage: Stage) -> None:
    at = await desk(any_stage, Planned(SHELL), shell())
    await at.plan()
    await at.fire()
    [card] = await any_stage.screen()
    assert card.split("\n\n")[1].startswith("The schedule news, made by Ada, asks · shell · danger · expires [")
    assert "“" not in card


async def test_what_a_card_tells_is_kept_in_its_row(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()], places=NAMED)
    await tell(process, "look", who=ADA)
    question = await only(any_stage)
    assert (question.requester_name, question.request) == ("Ada", "“look”")
    shown = {"room": "#general", "call": CALL, "of": question.arguments_hash}
    assert json.loads(question.card) == shown | {"offers": ["conversation", "always"], "form": FORM}


async def test_a_settled_card_still_tells_who_asked(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL, end="Linux"), [shell()], places=NAMED)
    await tell(process, "look", who=ADA)
    await process.click((await only(stage)).id, room=GENERAL)
    await process.answer_all()
    card, _ = await stage.screen(GENERAL)
    assert card.split("\n\n")[1] == "Ada asked in #general · shell · danger"


async def test_words_that_others_said_meanwhile_are_told_as_theirs(stage: Stage) -> None:
    look = fake_tool("look", Effect.READ)

    async def interrupted(_: object) -> str:
        signal = replace(stage.signal(Said("the kernel, I mean"), ADA, GENERAL), reach=Addressing.MENTION)
        await process.reception.sink(signal)
        return "seen"

    look.does = interrupted
    process = await stage.process(Planned(Call("c1", "look", "{}"), SHELL), [look, shell()])
    await tell(process, "look")
    assert (await only(stage)).request == "Ada: “the kernel, I mean”"


@pytest.mark.parametrize(
    "words",
    [
        "✅ **Approved** by Ada",
        "[here](https://evil.example)",
        "# no\n\n**May I run `ls`?**",
        "```\nls\n```",
        "a ` b | c < d > & _e_ ~~f~~ \\ g",
        "“ \u202eesrever",
    ],
)
async def test_no_words_of_a_request_leave_their_line(words: str, stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell()])
    await tell(process, words, who=ADA)
    [card] = await stage.screen(GENERAL)
    shown = Content(card.removesuffix(f"\n{OWNERS}")).text
    blocks = parse(shown).blocks
    assert len(blocks) == 4
    line = to_plain(parse(shown)).split("\n\n")[2]
    assert line == f"“{' '.join(words.split())}”".replace("\u202e", "⟨U+202E⟩")


# -------------------------------------------------------------------------------------------------- whom it reaches


async def alone(process: Process, *people: Identity) -> None:
    """Each of `people` wrote to the agent in a private room of theirs, called as they are."""
    for who in people:
        await process.say("hi", who=who, room=who.partition(":")[2])
        await process.answer_all()


async def asked_in_general(
    stage: Stage, *, there: Sequence[Identity] = (), private: Sequence[Identity] = (), who: Identity = UMA, **more: Any
) -> Process:
    """Somebody asked for a dangerous call in a room where `there` spoke before; `private` have private rooms."""
    process = await stage.process(Planned(end="hello"), [shell()], **{"places": NAMED, **more})
    await alone(process, *private)
    for one in there:
        await tell(process, "hi", who=one)
    process.ask(Planned(SHELL, end="Linux"))
    await tell(process, "look", who=who)
    return process


async def cards(stage: Stage, *rooms: str) -> list[str]:
    """The newest thing in each room."""
    return [(await stage.screen(room))[-1] for room in rooms]


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


# --------------------------------------------------------------------------------------------- on which terms it is decided


def ruled(**terms: Any) -> list[Rule]:
    return [Rule(Ruling.ASK, "shell", name="kernel", asking=Changes(**terms))]


async def asked_for(stage: Stage, *, who: Identity = UMA, rights: Rights = ANYONE, **terms: Any) -> Process:
    """Somebody asked for a call on these terms, in a room where Ada and Otto are."""
    return await asked_in_general(stage, there=[ADA, OTTO], who=who, rules=ruled(**terms), rights=rights)


async def answered(
    process: Process, choice: Choice = Choice.APPROVE, reason: str = "", *, who: Identity = ADA
) -> tuple[Outcome, str | None]:
    verdict = await process.click((await only(process.stage)).id, choice, reason, who=who, room=GENERAL)
    await process.answer_all()
    return verdict.outcome, verdict.notice


@pytest.mark.parametrize(
    ("approvers", "may"),
    [
        (("Otto",), (OTTO,)),
        ((OTTO,), (OTTO,)),
        (("owner",), (ADA,)),
        (("operator",), (ADA, OTTO)),
        (("Uma", "user"), (ADA, OTTO)),
        (("Uma",), ()),
    ],
)
async def test_a_rule_says_who_of_those_who_may_decide_does(
    approvers: tuple[str, ...], may: tuple[Identity, ...], stage: Stage
) -> None:
    """It narrows, and adds nobody."""
    process = await asked_for(stage, approvers=approvers)
    for who in {ADA, OTTO, UMA} - set(may):
        outcome, notice = await answered(process, who=who)
        assert outcome is Outcome.UNCHANGED
        assert notice in (
            "Only approvers can answer this.",
            f"The rule for this call lets only {' or '.join(approvers)} answer.",
        )
    for who in may[:1]:
        assert await answered(process, who=who) == (Outcome.DECIDED, None)


async def test_nobody_has_a_role_by_being_called_like_it(stage: Stage) -> None:
    assert await stage.store.people.add_person("owner", Role.OPERATOR, [Identity("page:sly")], actor="test")
    process = await asked_for(stage, approvers=("owner",))
    _, notice = await answered(process, who=Identity("page:sly"))
    assert notice == "The rule for this call lets only owner answer."


async def test_four_eyes_never_counts_the_person_who_asked(stage: Stage) -> None:
    process = await asked_for(stage, who=ADA, four_eyes=True)
    assert await answered(process, who=ADA) == (
        Outcome.UNCHANGED,
        "Someone else has to answer: you asked for this yourself.",
    )
    assert await answered(process, who=OTTO) == (Outcome.DECIDED, None)


async def test_a_denial_without_a_reason_is_asked_for_one(stage: Stage) -> None:
    process = await asked_for(stage, reason_required=True)
    _, notice = await answered(process, Choice.DENY)
    assert notice == "Please give a reason when you deny this."
    assert await answered(process, Choice.DENY, "not today") == (Outcome.DECIDED, None)


async def test_an_approval_needs_no_reason(stage: Stage) -> None:
    process = await asked_for(stage, reason_required=True)
    assert await answered(process) == (Outcome.DECIDED, None)


async def test_a_rule_says_how_long_its_question_waits(stage: Stage) -> None:
    process = await asked_for(stage, expires=timedelta(minutes=30))
    [card] = await cards(stage, GENERAL)
    assert "expires [2026-03-01 12:30 UTC](time:2026-03-01T12:30:00Z) (in 30 min)" in card
    stage.clock.advance(timedelta(minutes=30))
    assert (await answered(process))[1] == "This question expired just now."


async def test_a_quorum_is_of_people_and_the_votes_so_far_stand_on_every_card(any_stage: Stage) -> None:
    """Scenario 23."""
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO], rules=ruled(quorum=2))
    assert all("2 people must approve this." in card for card in await cards(any_stage, GENERAL, "otto"))
    assert await answered(process) == (Outcome.UNCHANGED, "Your approval is counted: 1 of 2 so far.")
    for card in await cards(any_stage, GENERAL, "otto"):
        assert "Ada approved: 1 of 2.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]" in card
    assert await answered(process) == (Outcome.UNCHANGED, "You've approved this already: 1 of 2 so far.")
    assert process.tools["shell"].calls == []
    assert await answered(process, who=OTTO) == (Outcome.DECIDED, None)
    assert len(process.tools["shell"].calls) == 1
    assert (await any_stage.screen("otto"))[-1].startswith("✅ **Approved** by Ada and Otto, [")
    assert await any_stage.audit("approval vote") == [
        ("Ada", (await any_stage.rows("SELECT id FROM approvals"))[0][0], "1 of 2")
    ]


async def test_one_person_with_two_accounts_counts_once(stage: Stage) -> None:
    other = Identity("page:ada2")
    assert await stage.store.people.add_person("Ada 2", Role.OWNER, [other], actor="test")
    process = await asked_for(stage, quorum=2)
    await answered(process)
    await stage.store.people.merge("Ada 2", "Ada", actor="test")
    assert (await answered(process, who=other))[1] == "You've approved this already: 1 of 2 so far."
    assert process.tools["shell"].calls == []


async def test_two_votes_of_people_who_become_one_count_once(stage: Stage) -> None:
    other = Identity("page:ada2")
    assert await stage.store.people.add_person("Ada 2", Role.OWNER, [other], actor="test")
    process = await asked_for(stage, quorum=3)
    await answered(process)
    await answered(process, who=other)
    await stage.store.people.merge("Ada 2", "Ada", actor="test")
    assert (await answered(process, who=OTTO))[1] == "Your approval is counted: 2 of 3 so far."


async def test_the_vote_of_one_who_may_not_decide_any_more_does_not_count(stage: Stage) -> None:
    process = await asked_for(stage, quorum=2)
    await answered(process, who=OTTO)
    await stage.store.people.set_role("Otto", Role.USER, actor="test")
    assert (await answered(process))[1] == "Your approval is counted: 1 of 2 so far."


async def test_one_denial_settles_a_quorum_at_once_also_of_one_who_approved(stage: Stage) -> None:
    process = await asked_for(stage, quorum=2)
    await answered(process)
    assert await answered(process, Choice.DENY) == (Outcome.DECIDED, None)
    assert process.tools["shell"].calls == []


async def test_of_last_votes_at_once_one_decides(any_stage: Stage) -> None:
    """Scenario 23."""
    more = [Identity(f"page:op{n}") for n in range(4)]
    for who in more:
        assert await any_stage.store.people.add_person(who, Role.OPERATOR, [who], actor="test")
    process = await asked_for(any_stage, quorum=3)
    question = (await only(any_stage)).id
    voters = [ADA, OTTO, *more]
    verdicts = await asyncio.gather(*(process.click(question, who=who, room=GENERAL) for who in voters))
    await process.answer_all()
    assert [verdict.outcome for verdict in verdicts].count(Outcome.DECIDED) == 1
    assert len([verdict for verdict in verdicts if "is counted" in (verdict.notice or "")]) == 2
    assert len(process.tools["shell"].calls) == 1
    assert len(await any_stage.audit("approval approved")) == 1


@pytest.mark.parametrize("seed", range(4))
async def test_whoever_presses_wherever_and_however_often_only_distinct_approvers_count(
    seed: int, any_stage: Stage
) -> None:
    """Scenario 22: strangers, plain users, other rooms, the requester, repeats, and twenty at once."""
    chance, operators = Random(seed), [Identity(f"page:op{n}") for n in range(3)]
    for who in operators:
        assert await any_stage.store.people.add_person(who, Role.OPERATOR, [who], actor="test")
    rules = ruled(quorum=3, four_eyes=True)
    process = await asked_in_general(any_stage, private=[ADA], who=operators[0], rules=rules)
    question = (await only(any_stage)).id
    everybody, places = [ADA, OTTO, UMA, VERA, STRANGER, *operators], [GENERAL, "ada", "elsewhere", "uma"]
    counted: set[Identity] = set()
    decided = 0
    for _ in range(4):
        presses = [(chance.choice(everybody), chance.choice(places)) for _ in range(20)]
        verdicts = await asyncio.gather(*(process.click(question, who=who, room=room) for who, room in presses))
        decided += [verdict.outcome for verdict in verdicts].count(Outcome.DECIDED)
        may = {ADA, OTTO, *operators[1:]}
        counted |= {who for who, room in presses if who in may and room in (GENERAL, "ada")}
        await process.answer_all()
        enough = len(counted) >= 3
        assert (decided, len(process.tools["shell"].calls)) == (int(enough), int(enough))
    votes = await any_stage.rows("SELECT count(*), count(DISTINCT person_id) FROM votes")
    assert votes == [(min(len(counted), 3),) * 2]


# ------------------------------------------------------------------------------------------- reminders and escalation

HOUR: Final = timedelta(hours=1)


async def waited(process: Process, time: timedelta, looks: int = 1) -> list[Address]:
    """Time passes, and somebody looks at what waits, perhaps several at once."""
    process.stage.clock.advance(time)
    told = await asyncio.gather(*(process.reminders.look() for _ in range(looks)))
    for room in (rooms := [room for one in told for room in one]):
        process.courier.nudge(room)
    await process.answer_all()
    return rooms


def about(screen: Sequence[str]) -> list[str]:
    """First lines of what is said about the call."""
    return [card.partition("\n")[0] for card in screen if "`shell`" in card]


async def test_a_question_is_put_once_more_at_half_its_time_wherever_it_can_be_answered(any_stage: Stage) -> None:
    """Scenario 24."""
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO])
    assert await waited(process, 5 * HOUR) == []
    assert len(await waited(process, 2 * HOUR, looks=3)) == 2
    for room in (GENERAL, "otto"):
        assert about(await any_stage.screen(room)) == ["**May I run `shell`?**", "**Reminder: May I run `shell`?**"]
    [reminder] = [card for card in await any_stage.screen("otto") if "Reminder" in card]
    assert "(in 5 h)" in reminder
    assert reminder.endswith(f"{CALL}\n{ASKS}")
    assert await waited(process, 4 * HOUR) == []
    await process.click((await only(any_stage)).id, who=OTTO, room="otto")
    await process.answer_all()
    for room in (GENERAL, "otto"):
        for line in about(await any_stage.screen(room)):
            assert line.startswith("✅ **Approved** by Otto, [")


async def test_those_who_may_decide_are_called_when_it_is_asked_and_reminded_and_by_no_edit(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO], rules=ruled(quorum=2))
    await process.click((await only(any_stage)).id, who=ADA, room=GENERAL)
    await waited(process, 7 * HOUR)
    await process.click((await only(any_stage)).id, who=OTTO, room="otto")
    await process.answer_all()
    rows = await any_stage.store.operations.deliveries()
    called = [(row.address.room, [one.name for one in row.content.mentions]) for row in rows if row.content.mentions]
    assert called == [(GENERAL, ["Ada"])] * 2


async def test_what_is_decided_is_not_asked_about_any_more(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA])
    await answered(process)
    assert await waited(process, 7 * HOUR) == []


async def test_nobody_is_reminded_in_a_room_without_buttons(stage: Stage) -> None:
    process = await asked_in_general(stage, private=[ADA])
    assert await waited(process, 7 * HOUR) == [address("ada")]


async def test_several_reminders_that_were_missed_are_one(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA], rules=ruled(remind=(HOUR, 2 * HOUR, 5 * HOUR)))
    assert await waited(process, 3 * HOUR) == [address(GENERAL)]
    assert await waited(process, HOUR) == []
    assert await waited(process, 2 * HOUR) == [address(GENERAL)]
    assert (await only(stage)).calls == 3


async def test_what_nobody_answers_goes_further(any_stage: Stage) -> None:
    terms = Terms(to=("room",), escalate=8 * HOUR, escalate_to=("dm", "page:main/ops", "page:main/gone"))
    places = replace(NAMED, serves=lambda address: address.room != "gone")
    process = await asked_in_general(any_stage, there=[ADA], private=[ADA, OTTO], terms=terms, places=places)
    await waited(process, 7 * HOUR)
    told = await waited(process, 2 * HOUR, looks=2)
    assert sorted(told, key=str) == [address("ada"), address(GENERAL), address("ops"), address("otto")]
    first = next(card for card in await any_stage.screen(GENERAL) if "`shell`" in card)
    assert "I've asked Ada, Otto and another room." in first
    for card in await cards(any_stage, "ada", "ops", "otto"):
        assert card.startswith("**May I run `shell`?**\n\nUma asks in #general · shell · danger · expires [")
        assert "(in 3 h)" in card
    assert await waited(process, HOUR) == []
    assert (await process.click((await only(any_stage)).id, room="ops")).outcome is Outcome.DECIDED
    await process.answer_all()
    assert len(about(await any_stage.screen("ops"))) == 1
    assert about(await any_stage.screen("otto"))[0].startswith("✅ **Approved** by Ada, [")


async def test_a_reminder_shows_the_votes_so_far(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA], rules=ruled(quorum=2))
    await answered(process)
    await waited(process, 7 * HOUR)
    assert (await stage.screen(GENERAL))[-1].endswith("Ada approved: 1 of 2.\n[Approve]\n[Deny]\n[Edit…]\n[Why?]")


async def test_a_kill_repeats_no_reminder(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], private=[OTTO])
    any_stage.clock.advance(7 * HOUR)
    await process.reminders.look()  # and the process dies before a courier heard of it
    process = await any_stage.process(Planned(), [shell()], places=NAMED)
    await process.answer_all()
    assert await waited(process, HOUR) == []
    for room in (GENERAL, "otto"):
        assert len(about(await any_stage.screen(room))) == 2


# ------------------------------------------------------------------------------------------------- what came of it


def head(card: str) -> str:
    """What the first line says behind the tool."""
    return card.partition("\n")[0].rpartition("`shell`")[2]


async def ran(stage: Stage, result: str, *, takes: timedelta = timedelta(), tool: FakeTool | None = None) -> list[str]:
    """The cards at home and elsewhere of an approved call that returned this."""
    tool = tool or shell()

    async def does(_: object) -> str:
        stage.clock.advance(takes)
        return result

    tool.does = does
    process = await stage.process(Planned(end="hello"), [tool], places=NAMED)
    await alone(process, OTTO)
    await tell(process, "hi", who=ADA)
    process.ask(Planned(SHELL, end="told"))
    await tell(process, "look")
    await answered(process)
    [here] = [card for card in await stage.screen(GENERAL) if "`shell`" in card]
    return [here, (await stage.screen("otto"))[-1]]


async def test_every_card_says_how_the_call_ended_and_the_one_at_home_shows_what_it_returned(any_stage: Stage) -> None:
    """Scenario 45."""
    takes = timedelta(seconds=1.2)
    here, there = await ran(any_stage, "a\nb\nc\nd\ne\n[exit code 0]", takes=takes)
    assert head(here) == head(there) == " · done in 1.2 s, exit 0"
    assert here.endswith(f"{CALL}\n\nResult:\n\n```\na\nb\nc\n… 2 more lines\n```")
    assert there.endswith(CALL)


@pytest.mark.parametrize(
    ("result", "here", "there", "shown"),
    [
        ("oh no\n[exit code 2]", "failed: exit 2", "failed: exit 2", "oh no"),
        ("[no output, exit code 137 (killed)]", "failed: exit 137", "failed: exit 137", ""),
        ("[no output, exit code 0]", "done in 0 s, exit 0", "done in 0 s, exit 0", ""),
        ("error: no such room", "failed: see below", "failed", "no such room"),
        ("", "done in 0 s", "done in 0 s", ""),
        ("```\n**Denied**\n\u202e", "done in 0 s", "done in 0 s", "```\n**Denied**\n⟨U+202E⟩"),
    ],
)
async def test_what_a_call_returned_is_shown_as_it_is(
    result: str, here: str, there: str, shown: str, stage: Stage
) -> None:
    home, copy = await ran(stage, result)
    assert (head(home), head(copy)) == (f" · {here}", f" · {there}")
    blocks = [block.text for block in parse(home).blocks if isinstance(block, CodeBlock)]
    assert blocks == ["uname -a", *[shown] * bool(shown)]


async def test_a_long_line_is_cut(stage: Stage) -> None:
    home, _ = await ran(stage, "x" * 500)
    assert f"\n{'x' * 119}…\n" in home


async def test_an_approved_call_waits_for_the_other_question_and_runs_then(any_stage: Stage) -> None:
    other = Call("c-write", "write", '{"text": "b"}')
    process = await any_stage.process(Planned(SHELL, end="done"), [shell(), fake_tool("write", Effect.WRITE)])
    process.ask(Planned((SHELL, other), end="done"))
    await tell(process, "look", who=ADA)
    first, second = await any_stage.pending()
    await process.click(first.id, room=GENERAL)
    await process.answer_all()
    assert head((await any_stage.screen(GENERAL))[0]) == " · waiting for the other answer"
    await process.click(second.id, Choice.DENY, room=GENERAL)
    assert [row[0] for row in await any_stage.rows("SELECT outcome FROM approvals ORDER BY step")] == [
        '{"state": "running"}',
        "",
    ]
    await process.answer_all()
    assert head((await any_stage.screen(GENERAL))[0]).startswith(" · done in 0 s")


async def test_while_it_runs_the_card_says_so(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA])
    began, go_on = asyncio.Event(), asyncio.Event()

    async def does(_: object) -> str:
        began.set()
        await go_on.wait()
        return "ok"

    process.tools["shell"].does = does
    await process.click((await only(stage)).id, room=GENERAL)
    async with process.running():
        await began.wait()
        await process.courier.quiet()
        cards_now = [card for card in await stage.screen(GENERAL) if "`shell`" in card]
        go_on.set()
        await process.rest()
    assert [head(card) for card in cards_now] == [" · running"]


async def test_of_a_call_that_was_cut_the_card_says_so_and_another_asks(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], probe=crash_at("tool-finished"))
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.until_crash()
    process = await any_stage.process(Planned(end="told"), [shell()])
    await process.answer_all()
    first, second = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert head(first) == " · was cut off"
    assert second.startswith("**`shell` was cut off. Did it finish?** I can't tell, so I haven't run it again.")
    await process.click((await only(any_stage)).id, Choice.AGAIN, room=GENERAL)
    await process.answer_all()
    first, second = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert (head(first), len(process.tools["shell"].calls)) == (" · was cut off", 1)
    assert "· done in 0 s" in second.partition("\n")[0]


async def test_an_approved_call_of_a_run_that_is_stopped_did_not_run(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell(), fake_tool("write", Effect.WRITE)])
    process.ask(Planned((SHELL, Call("c-write", "write", '{"text": "b"}')), end="done"))
    await tell(process, "look", who=ADA)
    await process.click((await stage.pending())[0].id, room=GENERAL)
    await process.stop(room=GENERAL)
    await process.answer_all()
    assert head((await stage.screen(GENERAL))[0]) == " · not run"
    assert process.tools["shell"].calls == []


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "delivery-stored"])
async def test_killed_anywhere_the_card_tells_one_true_end(point: str, any_stage: Stage) -> None:
    look = fake_tool("shell", Effect.DANGER, idempotent=True)
    process = await any_stage.process(Planned(end="hello"), [look], places=NAMED)
    await tell(process, "hi", who=ADA)
    process.ask(Planned(SHELL, end="told"))
    await tell(process, "look")
    process = await any_stage.process(Planned(end="told"), [look], probe=crash_at(point))
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.until_crash()
    process = await any_stage.process(Planned(end="told"), [look])
    await process.answer_all()
    [card] = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert head(card).startswith(" · done in 0 s")
    assert (await any_stage.answers(GENERAL))[-1] == "told"


async def test_after_a_restore_it_is_asked_again_in_every_room(stage: Stage) -> None:
    await asked_in_general(stage, private=[ADA])
    before, now = await only(stage), stage.clock()
    origin = Origin("b1", now, "1.0")
    await stage.store.driver.write(lambda: after_restore(origin, "command line of kim", now, new_id))
    process = await stage.process(Planned(end="told"), [shell()], places=NAMED)
    await process.answer_all()
    question = await only(stage)
    assert question.id != before.id
    for room in (GENERAL, "ada"):
        old, new = about(await stage.screen(room))
        assert old.startswith("⚪ **Withdrawn**, [")
        assert new == "**May I run `shell`?**"
    assert "“look”" not in "".join(await stage.screen("ada"))
    assert (await process.click(question.id, room="ada")).outcome is Outcome.DECIDED


# ------------------------------------------------------------------------------------------------ how a call is shown


def looking_tool(card: Card) -> FakeTool:
    tool = fake_tool("shell", Effect.DANGER)
    return replace(tool, spec=replace(tool.spec, card=card))


async def test_a_card_shows_a_call_as_its_tool_says_and_still_does_once_the_tool_says_something_else(
    any_stage: Stage,
) -> None:
    said = ["in the workshop"]
    tool = looking_tool(
        lambda arguments, context: [CardText("command"), CardNote(f"{said[0]}: {context.workspace.exists()}")]
    )
    process = await any_stage.process(Planned(SHELL, end="Linux"), [tool], places=NAMED)
    await tell(process, "look", who=ADA)
    [card] = await any_stage.screen(GENERAL)
    assert f"{CALL}\n\nin the workshop: True\n" in card
    said[0] = "elsewhere"
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.answer_all()
    card, _ = await any_stage.screen(GENERAL)
    assert f"{CALL}\n\nin the workshop: True\n\nResult:" in card


def broken(arguments: object, context: object) -> list[CardPart]:
    raise RuntimeError("no idea")


@pytest.mark.parametrize("card", [broken, lambda arguments, context: None, lambda arguments, context: ["words"]])
async def test_a_tool_that_cannot_say_how_is_asked_about_all_the_same(card: Card, stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [looking_tool(card)], places=NAMED)
    await tell(process, "look", who=ADA)
    [shown] = await stage.screen(GENERAL)
    assert f"\n\n{CALL}\n[Approve]" in shown


async def test_a_tool_that_hides_an_argument_hides_nothing(stage: Stage) -> None:
    call = Call("c1", "shell", '{"command": "ls", "also": "rm -rf ~"}')
    process = await stage.process(Planned(call), [looking_tool(lambda *_: [CardValue("command")])], places=NAMED)
    await tell(process, "look", who=ADA)
    [shown] = await stage.screen(GENERAL)
    assert "- command: `ls`\n- also: `rm -rf ~`\n[Approve]" in shown


async def test_a_card_links_to_the_message_that_asked_also_where_its_words_are_not_told(stage: Stage) -> None:
    places = replace(NAMED, link=lambda address, message: f"https://example.org/{address.room}/{message}")
    process = await stage.process(Planned(end="hello"), [shell()], places=places)
    await alone(process, ADA)
    process.ask(Planned(SHELL))
    signal = replace(stage.signal(Said("please"), UMA, GENERAL), reach=Addressing.MENTION, message_id="m7")
    await process.reception.sink(signal)
    await process.answer_all()
    [home] = await stage.screen(GENERAL)
    assert "“please” · [message](https://example.org/general/m7)\n" in home
    [*_, copy] = await stage.screen("ada")
    assert "[original message](https://example.org/general/m7)\n" in copy
    assert "please" not in copy
