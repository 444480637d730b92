"""A card of a question: what it tells, and how it shows the call."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runtime.contract import (
    Addressing,
    Call,
    Card,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Content,
    Effect,
    Said,
    ToolTurn,
)
from runtime.markup import parse
from runtime.markup.plain import to_plain
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.approvers import CALL, EXPIRES, FORM, GENERAL, NAMED, OWNERS, alone, only, shell, tell
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import ADA, SHELL, UMA, FakeTool, Stage, fake_tool
from tests.contract.runtime.strict import Planned

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
