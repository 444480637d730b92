"""Skills that agents propose: checked before anybody is asked, and written beside the settings file once an owner said yes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

import structlog

from bot.settings.settings import Settings
from bot.wiring.skills.places import SHIPPED_SKILLS, can_be_written, own_folder, places_of
from runtime.chat.views.skills import FORM_LETTERS
from runtime.contract import Caller, CallKey
from runtime.contract.agents.skills import Proposal, ShownProposal
from runtime.domain.skills.lock import standing
from runtime.domain.skills.skill import Skill, Source
from runtime.errors import StoreError, ToolFailed
from runtime.skills.frontmatter import NotASkill
from runtime.skills.installing import MovedOn, Was, install, mend
from runtime.skills.proposed import contents_of, faults_of, is_made, made_of
from runtime.skills.reading import FoundSkill, contents_in, read_skill
from runtime.skills.ready import Locks, ReadySkills
from runtime.text.glyphs import clip
from runtime.text.words import marked
from tools.skills.proposing import IS_NEW

log = structlog.get_logger("skills")

DESCRIPTION_SHOWN_CHARS: Final = 300
WARNINGS_ON_CARD: Final = 5
NO_SKILL_PLACE: Final = marked(
    "There is no settings file beside which a skill could be written: signalbox init makes one."
)
SKILLS_TAKE_NOTHING: Final = "{folder} can't be written here, so no skill can be proposed. Tell an operator."
SKILL_IS_THERE: Final = (
    "There is a skill {name} already. Read it with skill_read, and give its form as base to change it."
)
SKILL_IS_GONE: Final = (
    "There is no skill {name} of the form {base} that this could change. For a new one leave base out."
)
SKILL_MOVED_ON: Final = (
    "The skill {name} is another one by now (its form is {form}), so nothing was written. Read it with skill_read, and propose the "
    "change anew."
)
SKILL_SAYS_SO: Final = "The skill {name} says exactly this already."
SKILL_WAITS: Final = (
    "An owner has to decide about the skill {name} as it is before it can be changed: signalbox skills show {name}"
)
SKILL_ELSEWHERE: Final = (
    "The skill {name} is in {folder}, which operators look after; proposals change skills beside the settings file."
)
SKILL_UNREADABLE: Final = "The skill {name} that is there can't be read: {wrong}."
WOULD_BE_NO_SKILL: Final = "This would be no skill: {wrong}."
SKILL_NOT_WRITTEN: Final = marked("The skill {name} can't be written ({why}). All is as it was.")
CHANGES_FORM: Final = marked("changes the form {form}")
TAKES_SHIPPED_PLACE: Final = marked("takes the place of the one that comes with Signalbox")
SKILL_WRITTEN: Final = "The skill {name} is there now{by}. Agents that have it can use it from their next message on."
SKILL_WRITTEN_WAITS: Final = "The skill {name} is written, and waits for an owner to accept it."


class ProposalLocks(Locks, Protocol):
    """Decisions of owners, in the store."""

    async def accept_proposed(self, skill: Skill, text: str, call: CallKey) -> str: ...


class WrittenProposals:
    """Implements `tools.skills.proposing.Proposals`. `clean` takes secrets out of what is kept of a skill's text, and `ring` tells
    others that an owner decided."""

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        ready: ReadySkills,
        store: ProposalLocks,
        ring: Callable[[], object],
        clean: Callable[[str], str],
    ) -> None:
        self._settings = settings
        self._ready = ready
        self._store = store
        self._ring = ring
        self._clean = clean

    async def objection(self, proposal: Proposal, by: Caller) -> str:
        if wrong := list(faults_of(proposal)):
            return "\n".join(wrong)
        if (folder := own_folder(self._settings())) is None:
            return NO_SKILL_PLACE
        if not await asyncio.to_thread(can_be_written, self._settings()):
            return SKILLS_TAKE_NOTHING.format(folder=folder)
        before = await asyncio.to_thread(self._before, proposal.name, by.agent)
        if why := await self._unlike(proposal, before):
            return why
        found = await asyncio.to_thread(made_of, proposal, before)
        return WOULD_BE_NO_SKILL.format(wrong="; ".join(found.wrong)) if found.skill is None else ""

    async def _unlike(self, proposal: Proposal, before: FoundSkill | None) -> str:
        """The reason for which what is there is not what the proposal changes; empty where it is."""
        name = proposal.name
        if before is None:
            return SKILL_IS_GONE.format(name=name, base=proposal.base) if proposal.base else ""
        if before.skill is None:
            return SKILL_UNREADABLE.format(name=name, wrong="; ".join(before.wrong))
        is_own = Path(before.skill.folder).parent == own_folder(self._settings())
        if before.skill.source is not Source.SHIPPED and not is_own:
            return SKILL_ELSEWHERE.format(name=name, folder=before.skill.folder)
        if not proposal.base:
            return SKILL_IS_THERE.format(name=name)
        if not is_form(proposal.base, before.skill.digest):
            return SKILL_MOVED_ON.format(name=name, form=before.skill.digest[:FORM_LETTERS])
        if not standing(before.skill, await self._store.skill_locks()).is_open:
            return SKILL_WAITS.format(name=name)
        return SKILL_SAYS_SO.format(name=name) if contents_of(proposal, before) == before.contents else ""

    def shown(self, proposal: Proposal) -> ShownProposal:
        if list(faults_of(proposal)):  # somebody changed the call on its card: what it names is nowhere
            return ShownProposal()
        before = self._before(proposal.name, "")
        found = made_of(proposal, before)
        description = clip(found.skill.description, DESCRIPTION_SHOWN_CHARS) if found.skill else ""
        warned = [str(one) for one in found.warned[:WARNINGS_ON_CARD]]
        if before is None or before.skill is None or not is_form(proposal.base, before.skill.digest):
            return ShownProposal(IS_NEW if not proposal.base else "", description=description, warned=warned)
        is_shipped = before.skill.source is Source.SHIPPED
        said = TAKES_SHIPPED_PLACE if is_shipped else CHANGES_FORM.format(form=before.skill.digest[:FORM_LETTERS])
        return ShownProposal(said, before.text, before.texts, description, warned)

    async def install(self, proposal: Proposal, by: Caller, call: CallKey) -> str:
        async with self._ready.unlooked():
            found = await self._written(proposal, by)
            assert found.skill is not None  # noqa: S101 - it was looked at just now
            try:
                who = await self._store.accept_proposed(found.skill, self._clean(found.text), call)
            except StoreError as error:
                log.warning("a skill is written and not accepted", skill=proposal.name, reason=str(error))
                return SKILL_WRITTEN_WAITS.format(name=proposal.name)
        self._ring()
        log.info("skill written", skill=proposal.name, by=who)
        if not who:
            return SKILL_WRITTEN_WAITS.format(name=proposal.name)
        return SKILL_WRITTEN.format(name=proposal.name, by=f", accepted by {who}")

    async def _written(self, proposal: Proposal, by: Caller) -> FoundSkill:
        """The skill as it was approved, in its place: the very call may have written it before a kill. Errors: ToolFailed."""
        if wrong := list(faults_of(proposal)):
            raise ToolFailed("\n".join(wrong))
        folder = own_folder(self._settings())
        if folder is not None:
            await self._mend(folder / proposal.name)
        before = await asyncio.to_thread(self._before, proposal.name, by.agent)
        if before and is_made(proposal, before, await self._files_of_base(proposal)):
            return before
        if (why := await self.objection(proposal, by)) or folder is None:
            raise ToolFailed(why or NO_SKILL_PLACE)
        found, goal = await asyncio.to_thread(made_of, proposal, before), folder / proposal.name
        try:
            await asyncio.to_thread(install, found.contents, goal, was(before, goal))
        except MovedOn:
            raise ToolFailed(SKILL_MOVED_ON.format(name=proposal.name, form="another")) from None
        except OSError as error:
            raise ToolFailed(SKILL_NOT_WRITTEN.format(name=proposal.name, why=error.strerror or error)) from error
        return found

    async def _mend(self, goal: Path) -> None:
        """A kill in mid-exchange may have left none, where the disk can't exchange in one step. Errors: ToolFailed."""
        try:
            await asyncio.to_thread(mend, goal)
        except OSError as error:
            raise ToolFailed(SKILL_NOT_WRITTEN.format(name=goal.name, why=error.strerror or error)) from error

    async def _files_of_base(self, proposal: Proposal) -> Mapping[str, str]:
        """Hashes of the form that it changes, as an owner accepted it or as it came; none for a new one, or where nobody knows."""
        if not proposal.base:
            return {}
        known = (await self._store.skill_locks()).get(proposal.name)
        if known and is_form(proposal.base, known.digest):
            return known.files
        shipped = await asyncio.to_thread(read_skill, SHIPPED_SKILLS / proposal.name, Source.SHIPPED)
        return shipped.skill.files if shipped.skill and is_form(proposal.base, shipped.skill.digest) else {}

    def _before(self, name: str, agent: str) -> FoundSkill | None:
        return skill_before(self._settings(), name, agent)


def skill_before(settings: Settings, name: str, agent: str) -> FoundSkill | None:
    """The skill of that name that counts now, for an agent. Blocks."""
    found = None
    for place in sorted(places_of(settings), key=lambda one: one.source):
        if place.agent in ("", agent) and (place.folder / name).is_dir():
            found = read_skill(place.folder / name, place.source, place.agent)
    return found


def was(before: FoundSkill | None, goal: Path) -> Was:
    """True for the folder that a proposal changes: none where the skill lies elsewhere, or is new."""
    here = before.contents if before and before.skill and Path(before.skill.folder) == goal else None

    def is_the_same(folder: Path | None) -> bool:
        if folder is None or here is None:
            return folder is None and here is None
        try:
            return dict(contents_in(folder)) == dict(here)
        except (NotASkill, OSError):
            return False

    return is_the_same


def is_form(base: str, digest: str) -> bool:
    """True for the beginning of a skill's hash that people and models are told, or more of it."""
    return len(base) >= FORM_LETTERS and digest.startswith(base)
