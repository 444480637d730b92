"""The way out to the web, as the settings have it."""

from __future__ import annotations

from bot.settings.settings import Settings
from runtime.egress import Egress, Opening, Result, Rule


def egress_of(settings: Settings) -> Egress:
    """The one Egress of the process: tools, webhooks and downloads share its limits."""
    return Egress(rules_of(settings), allow=[Opening.parse(text) for text in settings.egress.allow])


def rules_of(settings: Settings) -> list[Rule]:
    return [
        Rule(Result(rule.result), rule.tool, rule.host, rule.path, rule.method, frozenset(rule.ports))
        for rule in settings.egress.rules
    ]
