"""Words of grants: the form that gives one, and the answers to `/grants`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC
from typing import Final

from runtime.contract import Choice, Effect, Field, Form
from runtime.domain.approvals import Approval
from runtime.policy.grant_patterns import AS_ASKED, SHELL_LINES, suggested
from runtime.policy.grants import ANYBODY, EVERYWHERE, HERE, Grant, Wish, only_people, proposed_end, reach
from runtime.text.glyphs import in_a_line, plainly
from runtime.text.words import count, marked, moment, say, several

GRANTS_LISTED: Final = 20
PATTERN_MAX_CHARS: Final = 80
ID_SHOWN: Final = 10
"""Characters of an id that tell it from those made a few milliseconds before and after it."""
HOW_TO: Final = marked("`{mark}grants revoke ID` ends one.")
REVOKE: Final = re.compile(r"revoke\s+(\S+)", re.IGNORECASE)
FOR_OPERATORS: Final = marked("Only operators and owners can see grants.")
IN_PRIVATE: Final = marked("I only list grants in private. Ask me in a direct chat, or see *Grants* on the console.")


def to_revoke(argument: str) -> str | None:
    """The id in `revoke ID`; None for anything else."""
    found = REVOKE.fullmatch(argument.strip())
    return found[1] if found else None


def listed(held: Sequence[tuple[Grant, str, str]], mark: str = "/") -> str:
    """Answer to `/grants`: those that hold, each with who gave it, and whom it is for."""
    if not held:
        return say("There are no grants, so I ask whenever the rules say so.")
    lines = [f"- {_line(*one)}" for one in held[:GRANTS_LISTED]]
    if len(held) > GRANTS_LISTED:
        lines.append(say("- and {held} more, on the console", held=count(len(held) - GRANTS_LISTED)))
    head = say(
        "{held}. I make these calls without asking; {how}",
        held=several(len(held), "grant"),
        how=say(HOW_TO, mark=mark),
    )
    return "\n".join([head, "", *lines])


def _line(grant: Grant, giver: str, person: str) -> str:
    by = say(", by {name}", name=" ".join(giver.split())) if giver else ""
    where = f" (`{grant.room}`)" if grant.room else ""
    return f"`{grant.id[:ID_SHOWN]}` {call(grant)} {reach(grant, moment(grant.until), plainly(person))}{where}{by}"


def call(grant: Grant) -> str:
    """The tool and the pattern of its arguments in one line of code each."""
    return f"`{grant.tool}` {_code(grant.pattern.brief())}"


def revoked(grant: Grant) -> str:
    return say("Ended. I'll ask about {call} again.", call=call(grant))


def not_one(found: Sequence[Grant], mark: str = "/") -> str:
    """Words where `words` mean none or several."""
    if not found:
        return say("No grant has that id. `{mark}grants` lists them.", mark=mark)
    return say(
        "Several ids begin like that: {ids}. Please give the full id.", ids=", ".join(f"`{one.id}`" for one in found)
    )


# ------------------------------------------------------------------------------------------------------------- the form


def given(wish: Wish) -> str:
    """Scope of a standing yes, for its card: calls, place, whose requests, end and number of uses."""
    where = EVERYWHERE if wish.everywhere else say("in {here}", here=HERE)
    uses = "" if wish.uses is None else f", {several(wish.uses, 'use')}"
    whose = say(" for {person} alone", person=plainly(wish.person)) if wish.person else ""
    return say(
        "{calls} {where}{whose} until {until}{uses}",
        calls=_code(wish.pattern.brief()),
        where=where,
        whose=whose,
        until=moment(wish.until),
        uses=uses,
    )


def _code(text: str) -> str:
    """One line of code, which no mark-up in the text can leave."""
    return f"`{in_a_line(text, PATTERN_MAX_CHARS).replace('`', chr(39))}`"


def form(approval: Approval) -> Form:
    """The form behind “Always…”."""
    arguments = json.loads(approval.arguments or "{}")
    pattern = suggested(approval.tool, approval.effect, arguments)
    places, whose = (HERE, EVERYWHERE), only_people(approval.requester_name if approval.requester else "")
    people = [Field("whose", say("Whose requests"), ANYBODY, options=(ANYBODY, *whose))] if whose else []
    return Form(
        approval.id,
        Choice.ALWAYS,
        say("Allow it from now on"),
        (
            Field("pattern", "Arguments", pattern.lines(), _hint(approval), lines=True),
            Field("where", "Where", HERE, options=places),
            *people,
            Field(
                "until",
                say("Until the end of"),
                proposed_end(approval.asked_at, UTC),
                say("A day, at most 90 days ahead"),
            ),
            Field("uses", say("How often"), hint=say("A number; leave it empty for no limit"), optional=True, most=6),
        ),
        note=say(
            "This call runs now, and later ones like it run without asking. To end that: /grants. "
            "“{as_asked}” stands for the value in this call.",
            as_asked=AS_ASKED,
        ),
        send="Allow",
    )


def _hint(approval: Approval) -> str:
    if approval.tool in SHELL_LINES:
        return say(
            "{name} = git status * allows these words and anything after them",
            name=SHELL_LINES[approval.tool],
        )
    return (
        say("One per line: name = value")
        if approval.effect is Effect.DANGER
        else say("name = value; * matches anything: notes/*")
    )
