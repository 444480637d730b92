"""`[push]`: notifications in people's browsers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from runtime.settings.types import Section, Switch


class PushSection(Section):
    """Notifications in browsers and on phones, for approvals and mentions. See [push.md](push.md)."""

    enabled: Switch = Field(
        default=False, description="People may have their browsers told what waits for them. Needs the extra `push`."
    )
    subject: str = Field(
        default="",
        description='Where push services reach whoever runs this: "mailto:ops@example.org", or an https address.',
    )
    words: Literal["short", "full"] = Field(
        default="short",
        description='What a notification says about an approval: "short", that one waits; "full", also who asks, for '
        "which tool and in which room. It never holds the call.",
    )

    @model_validator(mode="after")
    def _reachable(self) -> PushSection:
        if (
            self.enabled
            and not (self.subject.startswith("mailto:") and "@" in self.subject)
            and not (self.subject.startswith("https://"))
        ):
            raise ValueError('`subject` is needed: "mailto:ops@example.org", or an address that begins with "https://"')
        return self
