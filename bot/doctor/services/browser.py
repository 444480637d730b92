"""The browser: is its program there, and does its sandbox stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine
from bot.wiring.tools.browser import browser_terms
from runtime.contract import Finding
from runtime.errors import ToolFailed

WHY_BROWSER: Final = "Each call of browser_open says so, and no page is opened."


async def check_browser(subject: Subject) -> Sequence[Finding]:
    if not subject.settings.tools.browser.enabled:
        return []
    from tools.browser.terms import walls_of

    try:
        walls = await walls_of(browser_terms(subject.settings))
    except ToolFailed as error:
        fix = "do what it says, or set enabled = false in [tools.browser]"
        return [fault("browser.works", str(error), WHY_BROWSER, fix)]
    return [fine("browser.works", f"{walls.program} runs in bubblewrap, and its requests go by the egress rules")]
