"""The tool that sends requests other than looks, where a rule allows some."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from bot.settings.safety.egress import EgressRule
from bot.settings.settings import Settings
from bot.wiring.safety.egress import egress_of
from runtime.contract import Tool

if TYPE_CHECKING:
    from tools.kit.placeholders import SecretBook

HTTP_REQUEST: Final = "http_request"
SENDING: Final = ("POST", "PUT", "PATCH", "DELETE")


def request_tools(settings: Settings, secrets: SecretBook | None = None) -> Mapping[str, Tool]:
    """By name; empty where no rule allows a request that changes something, so that no model tries in vain."""
    if not any(_lets_send(rule) for rule in settings.egress.rules):
        return {}
    from tools.web.sending import request_tool

    tool = request_tool(egress_of(settings), secrets)
    return {tool.spec.name: tool}


def _lets_send(rule: EgressRule) -> bool:
    is_ours = rule.result == "allow" and fnmatchcase(HTTP_REQUEST, rule.tool)
    return is_ours and any(fnmatchcase(method, rule.method.upper()) for method in SENDING)
