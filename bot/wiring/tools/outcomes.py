"""Decisions of the rules of some settings about each tool: for the overview of `policy test`, and for an edit of rules."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from bot.settings.settings import Settings
from bot.wiring.live_rules import policy_of
from runtime.contract import Role
from runtime.policy.explanation import Explanation, explained
from runtime.policy.modes import Mode
from runtime.policy.rules import Ask, Policy


def outcome(
    settings: Settings, ask: Ask, mode: str, takes: Collection[str], policy: Policy | None = None
) -> dict[str, Any]:
    """A call without arguments by each role, by which rule, and what its arguments may change. `takes` are their names.

    `policy` is that of the settings, for whoever asks about many tools.
    """
    policy = policy or policy_of(settings)
    found, terms = explained(policy, ask, Mode(mode)), policy.terms(ask)
    own = settings.access.self_approval and not terms.four_eyes and terms.quorum == 1
    listed = bool(settings.access.approvers or terms.approvers)

    def result(role: Role) -> str:
        if found.ruling.value != "ask" or role < Role.OPERATOR or not own:
            return found.ruling.value
        return "ask; may decide it, if an approver" if listed else "ask; may decide it"

    others = [
        f"{one.rule.ruling.value}: {one.title}"
        for one in found.depending
        if all(name in takes for name in (*one.rule.arguments, *one.rule.where))
    ]
    return {
        "tool": ask.tool,
        "effect": ask.effect.value,
        **{role.word: result(role) for role in (Role.USER, Role.OPERATOR, Role.OWNER)},
        "rule": _decider(found),
        "limit": str(found.by.rule.limit or "") if found.by else "",
        "else": ", ".join(others),
    }


def explained_call(settings: Settings, ask: Ask, mode: str) -> Explanation:
    return explained(policy_of(settings), ask, Mode(mode))


def _decider(found: Explanation) -> str:
    """The rule or mode that decides, or nothing where the effect does."""
    if found.mode.value != "normal":
        return f"the mode {found.mode.value}"
    return found.by.title if found.by else ""
