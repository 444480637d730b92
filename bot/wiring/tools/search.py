"""The tool that searches the web, where the settings name a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from bot.settings.settings import Settings
from bot.wiring.safety.egress import rules_of
from runtime.contract import Tool
from runtime.egress import Egress, Opening, Result, Rule

if TYPE_CHECKING:
    from tools.web.searching.services import Service

WEB_SEARCH: Final = "web_search"
TAVILY_HOST: Final = "api.tavily.com"


def search_tools(settings: Settings) -> Mapping[str, Tool]:
    """By name; empty where no service is named."""
    if not settings.tools.search.provider:
        return {}
    from tools.web.searching.tool import search_tool

    # The operator named the service: only what their rules refuse is refused.
    rules = [*rules_of(settings), Rule(Result.ALLOW, WEB_SEARCH, TAVILY_HOST, method="POST")]
    egress = Egress(rules, allow=[Opening.parse(text) for text in settings.egress.allow])
    tool = search_tool(egress, services_of(settings))
    return {tool.spec.name: tool}


def services_of(settings: Settings) -> Sequence[Service]:
    """Services in the order in which they are asked; those whose key is not at hand are left out."""
    from tools.web.searching.services import brave, searxng, tavily

    search = settings.tools.search
    made = {
        "searxng": lambda: searxng(search.url),
        "brave": lambda: brave(_value(search.brave_key)),
        "tavily": lambda: tavily(_value(search.tavily_key)),
    }
    return [made[name]() for name in search.provider if name not in search.without_key]


def _value(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
