"""Skills as tools see them: texts and files of those that an owner accepted, read anew and compared before each use."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bot.settings.settings import Settings
from bot.wiring.safety.bound import SECRET_USED, NoteUse
from bot.wiring.skills.places import NOTHING_HANDED, secret_files_of, variables_of
from runtime.chat.views.skills import FORM_LETTERS
from runtime.context.prompt.skilled import told
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.skill import SCRIPTS, Skill
from runtime.errors import StoreError, ToolFailed, ToolRetry
from runtime.skills.reading import FoundSkill, read_skill
from runtime.skills.ready import ReadySkills
from runtime.text.naming import listed
from tools.sandbox.sandbox import Provided

JUST_CHANGED: Final = "The skill {name} has just changed, so it isn't used until an owner accepts it."
FORM_TOLD: Final = "Form {form}."
"""By which `skill_propose` knows what a change is based on."""
LENT_MODE: Final = 0o755
"""Mode of what a command is lent: it may run as another user."""


class AcceptedSkills:
    """Implements `tools.skills.SkillBook`."""

    def __init__(
        self,
        *,
        ready: ReadySkills,
        settings: Callable[[], Settings],
        manifests: Callable[[], Mapping[str, Manifest]],
        note: NoteUse,
    ) -> None:
        self._ready = ready
        self._settings = settings
        self._manifests = manifests
        self._note = note

    async def text(self, agent: str, name: str, file: str) -> str:
        skill = await self._skill(agent, name)
        if not file:
            others = sorted(path for path in skill.files if not path.startswith(SCRIPTS) and path.lower() != "skill.md")
            more = f"Files for skill_read: {', '.join(others)}." if others else ""
            return "\n\n".join(filter(None, (told(skill), more, FORM_TOLD.format(form=skill.digest[:FORM_LETTERS]))))
        found = await self._accepted(skill)
        text = found.texts.get(file.removeprefix("./"))
        if text is None:
            raise ToolRetry(f"The skill {name} has no text {file[:200]!r}. It has: {', '.join(sorted(found.texts))}.")
        return text

    async def objection(self, agent: str, name: str, script: str) -> str:
        try:
            _script_of(await self._skill(agent, name), script)
        except (ToolFailed, ToolRetry) as error:
            return str(error)
        return ""

    @asynccontextmanager
    async def lent(self, agent: str, name: str, script: str) -> AsyncIterator[Provided]:
        skill = await self._skill(agent, name)
        _script_of(skill, script)
        found = await self._accepted(skill)
        with tempfile.TemporaryDirectory(prefix="signalbox-skill-") as folder:
            await asyncio.to_thread(_laid_out, Path(folder), found.contents)
            settings = self._settings()
            variables, files = variables_of(settings, skill), await asyncio.to_thread(secret_files_of, settings, skill)
            for secret in (one for one in skill.needs.secrets if one in variables or one in files):
                await self._recorded(secret, agent, f"skill {skill.name}, {script}")
            yield Provided(Path(folder), tuple(found.contents), variables, files)

    def handed(self, name: str) -> Sequence[str]:
        table = self._settings().skills.named.get(name, NOTHING_HANDED)
        return (*table.secrets, *table.secret_files)

    async def _recorded(self, secret: str, agent: str, use: str) -> None:
        try:
            await self._note(SECRET_USED, agent, secret, use)
        except StoreError as error:
            raise ToolFailed(f"The use of the secret {secret} can't be recorded ({error}). Nothing was run.") from error

    async def _skill(self, agent: str, name: str) -> Skill:
        """Errors: ToolRetry for one that this agent hasn't got."""
        try:
            await self._ready.fresh()
        except StoreError as error:
            raise ToolFailed(f"Skills can't be looked at right now: {error}") from error
        manifest = self._manifests().get(agent) or Manifest(name=agent, skills=())
        skills = self._ready.of(manifest)
        found = next((one for one in skills if one.name == name.strip().lower()), None)
        if found is None:
            known = f" There are: {listed([one.name for one in skills])}." if skills else ""
            raise ToolRetry(f"{self._ready.why_not(name.strip().lower(), manifest)}{known}")
        return found

    async def _accepted(self, skill: Skill) -> FoundSkill:
        """Its files as they are, where they still are what was accepted: they may have changed since the last look."""
        found = await asyncio.to_thread(read_skill, Path(skill.folder), skill.source, skill.agent)
        if found.skill is None or found.skill.digest != skill.digest:
            raise ToolFailed(JUST_CHANGED.format(name=skill.name))
        return found


def _script_of(skill: Skill, script: str) -> None:
    if script not in skill.scripts:
        there = f"It has: {', '.join(skill.scripts)}." if skill.scripts else "It has none."
        raise ToolRetry(f"The skill {skill.name} has no script {script[:100]!r}. {there}")


def _laid_out(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files as they were read. Nobody else knows the folder, and a command sees it read-only."""
    folder.chmod(LENT_MODE)
    for path, data in contents.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(LENT_MODE)
    for inner in folder.rglob("*"):
        if inner.is_dir():
            inner.chmod(LENT_MODE)
