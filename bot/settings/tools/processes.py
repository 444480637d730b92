"""`[tools.processes]`: programs that agents start and that live on between calls."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.types import Section, Whole


class ProcessesSection(Section):
    """Programs that run on between calls: [processes.md](processes.md)."""

    at_once: Whole = Field(default=5, ge=1, le=50, description="Most of one conversation at once.")
    minutes: Whole = Field(default=60, ge=1, le=1440, description="Longest time of one, in minutes.")
