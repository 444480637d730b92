"""The way back from a skill that an agent proposed: the form before it, or none, for as long as the folder is what was written."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

import structlog

from bot.settings.settings import Settings
from bot.wiring.skills.places import own_folder
from bot.wiring.skills.proposals import NO_SKILL_PLACE, SKILL_NOT_WRITTEN, is_form, skill_before
from runtime.contract import CallKey
from runtime.contract.agents.skills import Proposal
from runtime.domain.skills.skill import Skill
from runtime.errors import StoreError, ToolFailed
from runtime.skills.installing import MovedOn, Was, install, uninstall
from runtime.skills.proposed import faults_of, made_of
from runtime.skills.reading import digest_in, skill_of
from runtime.skills.ready import ReadySkills
from runtime.text.words import marked

log = structlog.get_logger("skills")

SKILL_CHANGED: Final = marked("The skill {name} has changed since, so I left it alone.")
SKILL_GONE_AGAIN: Final = "The skill {name} is gone again."
SKILL_AS_BEFORE: Final = "The skill {name} is as it was before."
SKILL_UNDECIDED: Final = marked(
    "The files of the skill {name} are as they were before, and an owner has to decide about it: {see}"
)
SEE_SKILLS: Final = "signalbox skills list"


class UndoneLocks(Protocol):
    """Decisions of owners, in the store."""

    async def take_back_proposed(
        self, name: str, wrote: str, before: Skill | None, text: str, call: CallKey
    ) -> str: ...


class WrittenUndo:
    """Implements `tools.skills.proposing.ProposalUndo`. `clean` takes secrets out of what is kept of a skill's text, and `ring`
    tells others that an owner decided."""

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        ready: ReadySkills,
        store: UndoneLocks,
        ring: Callable[[], object],
        clean: Callable[[str], str],
    ) -> None:
        self._settings = settings
        self._ready = ready
        self._store = store
        self._ring = ring
        self._clean = clean

    def kept(self, proposal: Proposal, agent: str) -> str | None:
        """Nothing where what is there isn't what the proposal changes: it is written already, or won't be."""
        folder = own_folder(self._settings())
        if folder is None or list(faults_of(proposal)):
            return None
        goal, before = folder / proposal.name, skill_before(self._settings(), proposal.name, agent)
        if before is None:
            is_base = not proposal.base
        else:
            is_base = before.skill is not None and is_form(proposal.base, before.skill.digest)
        written = made_of(proposal, before).skill
        if not is_base or written is None:
            return None
        kept: dict[str, object] = {"name": proposal.name, "wrote": written.digest}
        if before and before.skill and Path(before.skill.folder) == goal:
            kept["old"] = {path: base64.b64encode(data).decode() for path, data in before.contents.items()}
        return json.dumps(kept, ensure_ascii=False)

    async def take_back(self, kept: str, call: CallKey) -> str:
        raw = json.loads(kept)
        name: str = raw["name"]
        folder = own_folder(self._settings())
        if folder is None:
            raise ToolFailed(NO_SKILL_PLACE)
        goal = folder / name
        old = {path: base64.b64decode(data) for path, data in raw["old"].items()} if "old" in raw else None
        async with self._ready.unlooked():
            await _put_back(goal, old, raw["wrote"])
            found = skill_of(name, old) if old is not None else None
            before, text = (found.skill, self._clean(found.text)) if found else (None, "")
            try:
                by = await self._store.take_back_proposed(name, raw["wrote"], before, text, call)
            except StoreError as error:
                log.warning("a skill is taken back and not decided about", skill=name, reason=str(error))
                raise ToolFailed(SKILL_UNDECIDED.format(name=name, see=SEE_SKILLS)) from error
        self._ring()
        log.info("skill taken back", skill=name, by=by)
        return (SKILL_GONE_AGAIN if old is None else SKILL_AS_BEFORE).format(name=name)


async def _put_back(goal: Path, old: Mapping[str, bytes] | None, wrote: str) -> None:
    """The folder as it was before, in one step. Errors: ToolFailed, and then all is as it was."""
    try:
        if old is None:
            await asyncio.to_thread(uninstall, goal, is_written(wrote))
        else:
            await asyncio.to_thread(install, old, goal, is_written(wrote))
    except MovedOn:
        raise ToolFailed(SKILL_CHANGED.format(name=goal.name)) from None
    except OSError as error:
        raise ToolFailed(SKILL_NOT_WRITTEN.format(name=goal.name, why=error.strerror or error)) from error


def is_written(wrote: str) -> Was:
    """True for a folder of exactly the files that were written."""
    return lambda folder: folder is not None and digest_in(folder) == wrote
