"""Skills: which can't be read, which wait for an owner, and what others lack here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.settings.settings import Settings
from bot.wiring.agents import manifests_of
from bot.wiring.skills.places import can_be_written, lacks_of, own_folder, places_of, undeclared
from runtime.contract import Finding
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.lock import Locked, Standing, standing
from runtime.domain.skills.matching import uses
from runtime.domain.skills.skill import Skill
from runtime.markup.moments import several
from runtime.skills.reading import FoundSkill
from runtime.skills.shelf import Shelf
from runtime.text.naming import listed

LOCKED_SKILLS: Final = "SELECT name, digest, files FROM skill_locks ORDER BY name"
NOT_HAD: Final = "So no agent has it."


async def check_skills(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    found = await asyncio.to_thread(Shelf(lambda: places_of(settings)).look)
    manifests = list(manifests_of(settings).values())
    [rows] = await rows_of(settings, LOCKED_SKILLS)
    locks = {name: Locked(name, digest, json.loads(files)) for name, digest, files in rows}
    mine = [
        one for one in found.values() if one.skill is None or any(uses(one.skill, manifest) for manifest in manifests)
    ]
    troubles = [*_of_each(mine, settings, locks), *_strange(settings, manifests, [name for _, name in found])]
    proposals = list(_of_proposals(settings))
    if troubles or not mine:
        return [*troubles, *proposals]
    return [fine("skills", f"{several(len(mine), 'skill')}: {listed([one.name for one in mine])}"), *proposals]


def _of_proposals(settings: Settings) -> Iterator[Finding]:
    """No trouble: settings that nobody writes are often meant so."""
    if settings.skills.proposals and settings.file and not can_be_written(settings):
        yield fine("skills.proposals", f"agents propose none: {own_folder(settings)} can't be written here")


def _of_each(mine: Sequence[FoundSkill], settings: Settings, locks: dict[str, Locked]) -> Iterator[Finding]:
    for one in mine:
        ident = f"skills.{one.name}"
        if one.skill is None:
            yield warning(
                ident, f"the skill {one.name} can't be read: {'; '.join(one.wrong)}", NOT_HAD, "mend its SKILL.md"
            )
            continue
        yield from _of_lock(ident, one.skill, standing(one.skill, locks))
        if lacks := lacks_of(settings, one.skill):
            what = f"the skill {one.name} needs {listed(lacks)}"
            yield warning(ident, what, NOT_HAD, f"install it, or set it under [skills.{one.name}]")
        if names := undeclared(settings, one.skill):
            what = f"[skills.{one.name}] hands over {listed(names)}, which the skill doesn't declare"
            yield warning(f"{ident}.undeclared", what, "So its scripts don't get it.", "remove it there")


def _of_lock(ident: str, skill: Skill, now: Standing) -> Iterator[Finding]:
    if not now.is_open:
        what = f"the skill {skill.name} {'changed since it was accepted' if now is Standing.CHANGED else 'is new'}"
        yield warning(
            ident, what, "It isn't loaded until an owner accepts it.", f"signalbox skills approve {skill.name}"
        )


def _strange(settings: Settings, manifests: Sequence[Manifest], names: Sequence[str]) -> Iterator[Finding]:
    """Names in the settings that no skill has."""
    for manifest in manifests:
        for glob in manifest.skills or ():
            if not any(uses(Skill(name=name, description=""), Manifest(skills=(glob,))) for name in names):
                what = f'the agent {manifest.name} has skills "{glob}", and there is none of that name'
                yield warning(f"skills.agents.{manifest.name}", what, "So it has none.", "signalbox skills list")
    for name in settings.skills.named:
        if name not in names:
            what = f"[skills.{name}] is for a skill that isn't here"
            yield warning(f"skills.{name}", what, "So nothing reads it.", "signalbox skills list")
