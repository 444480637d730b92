"""`[tools.browser]`: a real browser for the agent."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from runtime.settings.types import Number, Section, Whole


class BrowserSection(Section):
    """A Chromium in a sandbox, whose requests all go by the egress rules: [browser.md](browser.md)."""

    enabled: bool = Field(
        default=False,
        description='Offers the tools `browser_*`. Needs the extra "browser" and a Chromium on this machine.',
    )
    chromium: str = Field(
        default="",
        description="Path of the browser's program. Empty: the first of chromium, chromium-browser and google-chrome.",
    )
    memory_mib: Whole = Field(
        default=1024, ge=256, le=1 << 20, description="Most memory of one browser. One that takes more is closed."
    )
    idle_minutes: Number = Field(
        default=10, gt=0, le=1440, description="Time after which a browser that nobody uses is closed."
    )

    @property
    def idle(self) -> timedelta:
        return timedelta(minutes=self.idle_minutes)
