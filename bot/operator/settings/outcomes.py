"""Effects of an edit of rules: tools whose calls would be decided otherwise than now, by role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.operator.views import View
from bot.settings.settings import Settings
from bot.wiring.live_rules import policy_of
from bot.wiring.tools.outcomes import outcome
from runtime.contract import Role, Tool
from runtime.domain.agents.manifest import MAIN
from runtime.policy.rules import Ask
from runtime.text.words import listed, marked, say

DECIDED_FOR: Final = (Role.USER, Role.OPERATOR, Role.OWNER)
FREEDOM: Final = {
    "deny": 0,
    "veto": 0,
    "ask": 1,
    "ask; may decide it, if an approver": 1,
    "ask; may decide it": 2,
    "allow": 3,
}
"""How much a decision lets through, from nothing to everything."""
DECISIONS: Final = {
    "deny": marked("it's denied"),
    "veto": marked("it's denied"),
    "ask": marked("somebody is asked"),
    "ask; may decide it, if an approver": marked("somebody is asked, and approvers may decide it themselves"),
    "ask; may decide it": marked("somebody is asked, and they may decide it themselves"),
    "allow": marked("it's done without asking"),
}
NORMAL: Final = "normal"


def changed_outcomes(before: Settings, after: Settings, tools: Mapping[str, Tool] | None) -> list[View]:
    """A row for each tool that is decided otherwise, or with other arguments or limits. Tools are those of the process, else those of the settings."""
    rules = (before.policy, before.access.self_approval, bool(before.access.approvers))
    if rules == (after.policy, after.access.self_approval, bool(after.access.approvers)):
        return []
    known = tools if tools is not None else _known(after)
    rows, old_policy, new_policy = [], policy_of(before), policy_of(after)
    for name, tool in sorted(known.items()):
        ask = Ask(name, tool.spec.effect, {}, MAIN, "", frozenset())
        takes = tool.spec.schema.get("properties", {})
        old, new = outcome(before, ask, NORMAL, takes, old_policy), outcome(after, ask, NORMAL, takes, new_policy)
        if old != new:
            rows.append(_row(old, new))
    return rows


def _row(old: View, new: View) -> View:
    freer = [role.word for role in DECIDED_FOR if FREEDOM[new[role.word]] > FREEDOM[old[role.word]]]
    lifted = bool(old["limit"]) and not new["limit"] and new[Role.USER.word] == "allow"
    return {
        "tool": new["tool"],
        "effect": new["effect"],
        "before": {role.word: old[role.word] for role in DECIDED_FOR},
        "after": {role.word: new[role.word] for role in DECIDED_FOR},
        "rule": new["rule"],
        "limit": new["limit"],
        "else": new["else"],
        "is_freer": bool(freer) or lifted,
        "words": _words(old, new, freer),
    }


def _words(old: View, new: View, freer: Sequence[str]) -> str:
    """A sentence about what people may do now."""
    about = {"tool": new["tool"], "effect": new["effect"]}
    if not freer:
        lifted = marked("{tool} ({effect}) is allowed without a limit for everybody, instead of at most {limit}.")
        return say(lifted, **about, limit=old["limit"])
    who = listed([say(role) for role in freer])
    now, before = (say(DECISIONS[one[freer[-1]]]) for one in (new, old))
    return say("{tool} ({effect}) for {who}: {now}. Until now: {before}.", **about, now=now, who=who, before=before)


def _known(settings: Settings) -> Mapping[str, Tool]:
    from bot.wiring.tools.known import known_tools

    return known_tools(settings)
