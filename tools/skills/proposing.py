"""The tool by which an agent proposes a skill: what it learned here, written down for the next time, if an owner wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    Caller,
    CallKey,
    CardChange,
    CardContext,
    CardFiles,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
    Undo,
)
from runtime.contract.agents.skills import Proposal, Proposals, ProposalUndo, ShownProposal
from runtime.errors import ToolError
from runtime.text.words import marked
from tools.kit.declare import tool

PROPOSING_TIMEOUT: Final = timedelta(seconds=60)
LINES_SHOWN: Final = 40
"""Lines of a text that is new, on the card that asks about it."""
PROPOSING: Final = Flow(Reads.OURS, carries=dict.fromkeys(("name", "text", "why", "files"), Carries.WORDS))
OWNERS_ALONE: Final = marked("an owner has to say yes; agents obey what stands here")
LOOK_AT: Final = marked("look first: {warned}")
IS_FOR: Final = marked("what it is for: {description}")
IS_NEW: Final = marked("new")


def propose_tool(proposals: Proposals, undo: ProposalUndo) -> Tool:
    """`skill_propose`. Owners alone decide about it: `runtime.policy.rules.OWNERS_SAY`."""

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        return drawn(proposals.shown(proposal_of(arguments)), arguments)

    @tool(effect=Effect.DANGER, timeout=PROPOSING_TIMEOUT, output_bound=4_000, seldom=True, card=card, flow=PROPOSING)
    async def skill_propose(
        name: Annotated[str, "Small letters, digits and dashes."],
        why: Annotated[str, "What was learned, and when it helps."],
        text: Annotated[str, "The whole SKILL.md: a head with name and description between lines ---, then the steps."],
        context: ToolContext,
        files: Annotated[dict[str, str] | None, "Other files by path, such as scripts/sum.py, each whole."] = None,
        removed: Annotated[list[str] | None, "Paths of files that go."] = None,
        base: Annotated[str, "Form of the skill that this changes, as skill_read tells it; empty for a new one."] = "",
    ) -> str:
        """Propose a new skill, or a change of one; an owner reads what differs and decides."""
        given: dict[str, Json] = {"name": name, "text": text, "files": files, "removed": removed, "base": base}
        by = Caller(context.agent, context.requester, in_chat=not context.scheduled, session=context.session)
        return await proposals.install(proposal_of(given), by, made_in(context))

    async def refusal(arguments: Mapping[str, Json], by: Caller) -> str:
        try:
            skill_propose.check(arguments)
        except ToolError as error:
            return str(error)
        return await proposals.objection(proposal_of(arguments), by)

    def keep(arguments: Mapping[str, Json], context: ToolContext) -> str | None:
        try:
            skill_propose.check(arguments)
        except ToolError:  # the call itself says what is wrong
            return None
        return undo.kept(proposal_of(arguments), context.agent)

    async def take_back(kept: str, context: ToolContext) -> str:
        return await undo.take_back(kept, made_in(context))

    return replace(skill_propose, spec=replace(skill_propose.spec, refusal=refusal, undo=Undo(keep, take_back)))


def made_in(context: ToolContext) -> CallKey:
    """The call that was approved, also of a resumed workflow."""
    return CallKey(context.run_id, context.session, context.call_id)


def proposal_of(arguments: Mapping[str, Json]) -> Proposal:
    """The proposal of a call whose arguments were checked."""
    files, removed = arguments.get("files") or {}, arguments.get("removed") or []
    return Proposal(
        str(arguments["name"]),
        str(arguments["text"]),
        {str(path): str(text) for path, text in files.items()},
        tuple(map(str, removed)),
        str(arguments.get("base") or "").strip().lower(),
    )


def drawn(shown: ShownProposal, arguments: Mapping[str, Json]) -> list[CardPart]:
    """The parts of the card: what it is, what differs, and what to look at first."""
    text: CardPart = CardText("text", LINES_SHOWN) if shown.text is None else CardChange("text", shown.text)
    files = [CardFiles("files", shown.files, LINES_SHOWN)] if arguments.get("files") else []
    notes = [LOOK_AT.format(warned=one) for one in shown.warned]
    notes += [IS_FOR.format(description=shown.description)] if shown.description else []
    return [CardValue("name", shown.said), CardValue("why"), text, *files, *map(CardNote, [*notes, OWNERS_ALONE])]
