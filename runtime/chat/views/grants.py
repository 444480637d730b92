"""Words of grants: the form that gives one, and the answers to `/grants`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC
from typing import Final

from runtime.contract import Choice, Effect, Field, Form
from runtime.domain.approvals import Approval
from runtime.markup.moments import moment, several
from runtime.policy.grant_patterns import AS_ASKED, SHELL_LINES, suggested
from runtime.policy.grants import ANYBODY, EVERYWHERE, HERE, Grant, Wish, only_people, proposed_end, reach
from runtime.text.glyphs import in_a_line, plainly

GRANTS_LISTED: Final = 20
PATTERN_MAX_CHARS: Final = 80
ID_SHOWN: Final = 10
"""Characters of an id that tell it from those made a few milliseconds before and after it."""
HOW_TO: Final = "`{mark}grants revoke ID` ends one."
REVOKE: Final = re.compile(r"revoke\s+(\S+)", re.IGNORECASE)
FOR_OPERATORS: Final = "Only operators and owners can see grants."
IN_PRIVATE: Final = "I only list grants in private. Ask me in a direct chat, or see *Grants* on the console."


def to_revoke(argument: str) -> str | None:
    """The id in `revoke ID`; None for anything else."""
    found = REVOKE.fullmatch(argument.strip())
    return found[1] if found else None


def listed(held: Sequence[tuple[Grant, str, str]], mark: str = "/") -> str:
    """Answer to `/grants`: those that hold, each with who gave it, and whom it is for."""
    if not held:
        return "There are no grants, so I ask whenever the rules say so."
    lines = [f"- {_line(*one)}" for one in held[:GRANTS_LISTED]]
    if len(held) > GRANTS_LISTED:
        lines.append(f"- and {len(held) - GRANTS_LISTED:,} more, on the console")
    head = f"{several(len(held), 'grant')}. I make these calls without asking; {HOW_TO.format(mark=mark)}"
    return "\n".join([head, "", *lines])


def _line(grant: Grant, giver: str, person: str) -> str:
    by = f", by {' '.join(giver.split())}" if giver else ""
    where = f" (`{grant.room}`)" if grant.room else ""
    return f"`{grant.id[:ID_SHOWN]}` {call(grant)} {reach(grant, moment(grant.until), plainly(person))}{where}{by}"


def call(grant: Grant) -> str:
    """The tool and the pattern of its arguments in one line of code each."""
    return f"`{grant.tool}` {_code(grant.pattern.brief())}"


def revoked(grant: Grant) -> str:
    return f"Ended. I'll ask about {call(grant)} again."


def not_one(found: Sequence[Grant], mark: str = "/") -> str:
    """Words where `words` mean none or several."""
    if not found:
        return f"No grant has that id. `{mark}grants` lists them."
    return f"Several ids begin like that: {', '.join(f'`{one.id}`' for one in found)}. Please give the full id."


# ------------------------------------------------------------------------------------------------------------- the form


def given(wish: Wish) -> str:
    """Scope of a standing yes, for its card: calls, place, whose requests, end and number of uses."""
    where = EVERYWHERE if wish.everywhere else f"in {HERE}"
    uses = "" if wish.uses is None else f", {several(wish.uses, 'use')}"
    whose = f" for {plainly(wish.person)} alone" if wish.person else ""
    return f"{_code(wish.pattern.brief())} {where}{whose} until {moment(wish.until)}{uses}"


def _code(text: str) -> str:
    """One line of code, which no mark-up in the text can leave."""
    return f"`{in_a_line(text, PATTERN_MAX_CHARS).replace('`', chr(39))}`"


def form(approval: Approval) -> Form:
    """The form behind “Always…”."""
    arguments = json.loads(approval.arguments or "{}")
    pattern = suggested(approval.tool, approval.effect, arguments)
    places, whose = (HERE, EVERYWHERE), only_people(approval.requester_name if approval.requester else "")
    people = [Field("whose", "Whose requests", ANYBODY, options=(ANYBODY, *whose))] if whose else []
    return Form(
        approval.id,
        Choice.ALWAYS,
        "Allow it from now on",
        (
            Field("pattern", "Arguments", pattern.lines(), _hint(approval), lines=True),
            Field("where", "Where", HERE, options=places),
            *people,
            Field("until", "Until the end of", proposed_end(approval.asked_at, UTC), "A day, at most 90 days ahead"),
            Field("uses", "How often", hint="A number; leave it empty for no limit", optional=True, most=6),
        ),
        note=f"This call runs now, and later ones like it run without asking. To end that: /grants. “{AS_ASKED}” stands for the value in this call.",
        send="Allow",
    )


def _hint(approval: Approval) -> str:
    if approval.tool in SHELL_LINES:
        return f"{SHELL_LINES[approval.tool]} = git status * allows these words and anything after them"
    return (
        "One per line: name = value"
        if approval.effect is Effect.DANGER
        else "name = value; * matches anything: notes/*"
    )
