"""The browser and its tools, where the settings turn them on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.safety.egress import rules_of
from runtime.contract import Tool
from runtime.egress import Egress, Opening, Result, Rule

if TYPE_CHECKING:
    from tools.browser.browsers import Browsers
    from tools.browser.terms import BrowserTerms

OWN_RULES: Final = (
    Rule(Result.ALLOW, "browser_click", method="POST"),  # a person saw what is clicked, so it may send a form
    Rule(Result.ALLOW, "browser_*", method="OPTIONS"),  # asks whether a page may read an answer, and changes nothing
)
"""Behind those of the settings, which may refuse it."""


def browsers_of(settings: Settings) -> Browsers | None:
    """None where they are off. Nothing of it is loaded or started before a page is opened."""
    if not settings.tools.browser.enabled:
        return None
    from tools.browser.browsers import Browsers

    egress = Egress([*rules_of(settings), *OWN_RULES], allow=[Opening.parse(text) for text in settings.egress.allow])
    return Browsers(egress, browser_terms(settings))


def browser_terms(settings: Settings) -> BrowserTerms:
    from tools.browser.terms import BrowserTerms

    browser = settings.tools.browser
    return BrowserTerms(
        chromium=Path(browser.chromium) if browser.chromium else None,
        uid=shell_of(settings).uid,
        memory_mib=browser.memory_mib,
        idle=browser.idle,
    )


def tools_of_browser(browsers: Browsers | None) -> Mapping[str, Tool]:
    """By name; empty where there are no browsers."""
    if browsers is None:
        return {}
    from tools.browser.tools import browser_tools

    return {tool.spec.name: tool for tool in browser_tools(browsers)}
