"""Questions and their approvers: what a card tells, whom it reaches, on which terms it is decided, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from runtime.agent.questions import QuestionContext
from runtime.contract import Addressing, Call, Content, Effect, Identity, Said
from runtime.domain.approvals import Approval
from runtime.markup import parse
from runtime.markup.plain import to_plain
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import ADA, SHELL, UMA, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned

GENERAL: Final = "general"
NAMED: Final = QuestionContext(room_name=lambda address: f"#{address.room}" if address.room == GENERAL else "")
CALL: Final = "```\nuname -a\n```"
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
    process = await any_stage.process(Planned(SHELL), [shell()], asking=NAMED)
    await tell(process, "please look at\nthe kernel", who=ADA)
    [card] = await any_stage.screen(GENERAL)
    assert card == (
        f"**May I run `shell`?**\n\nAda asks in #general · shell · danger · {EXPIRES}\n\n"
        f"“please look at the kernel”\n\n{CALL}\n[Approve]\n[Deny]"
    )


async def test_a_card_names_the_rule_that_asks(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "shell", name="kernel_*", asking=Changes())
    process = await stage.process(Planned(SHELL), [shell()], rules=[rule])
    await tell(process, "look", who=ADA)
    [card] = await stage.screen(GENERAL)
    assert card.split("\n\n")[1] == f"Ada asks · shell · danger · rule kernel\\_\\* · {EXPIRES}"


async def test_a_schedules_card_says_which_schedule_asks(any_stage: Stage) -> None:
    at = await desk(any_stage, Planned(SHELL), shell())
    await at.plan()
    await at.fire()
    [card] = await any_stage.screen()
    assert card.split("\n\n")[1].startswith("The schedule news, made by Ada, asks · shell · danger · expires [")
    assert "“" not in card


async def test_what_a_card_tells_is_kept_in_its_row(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(SHELL), [shell()], asking=NAMED)
    await tell(process, "look", who=ADA)
    question = await only(any_stage)
    assert (question.requester_name, question.request, question.card) == ("Ada", "“look”", '{"room": "#general"}')


async def test_a_settled_card_still_tells_who_asked(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL, end="Linux"), [shell()], asking=NAMED)
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
        "**Approved** by Ada",
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
    shown = Content(card.removesuffix("\n[Approve]\n[Deny]")).text
    blocks = parse(shown).blocks
    assert len(blocks) == 4
    line = to_plain(parse(shown)).split("\n\n")[2]
    assert line == f"“{' '.join(words.split())}”".replace("\u202e", "⟨U+202E⟩")
