"""The way on which tasks of A2A are told to programs, as the settings have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.settings.settings import Settings
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.logins.sealed_files import MadeSealer
from bot.wiring.safety.egress import rules_of
from runtime.egress import Egress, Opening, Result, Rule

PUSH_TOOL: Final = "a2a_push"
"""Name by which rules of the way out know what is sent to programs."""


@dataclass(frozen=True, slots=True)
class PushWay:
    """Guarded way out, and what seals the addresses of programs with their credentials."""

    egress: Egress
    sealer: MadeSealer


def push_way_of(settings: Settings, tool: str = PUSH_TOOL) -> PushWay:
    """Public places may be told, unless a rule of the settings denies it: a program hears nothing that it couldn't ask for.

    Private networks need `egress.allow` and a rule that allows it: what was opened for agents is not open to programs.
    """
    allow = [Opening.parse(text) for text in settings.egress.allow]
    rule = Rule(Result.ALLOW, tool, method="POST", public=True)
    return PushWay(Egress([*rules_of(settings), rule], allow=allow), login_sealer_of(settings))
