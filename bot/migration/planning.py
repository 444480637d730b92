"""Planning: a home is compared with this installation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Final

from bot.migration.found import Found, FoundPerson, FoundSkillFolder, Item
from bot.migration.home import Home
from bot.migration.plan import Action, NewPerson, Plan
from bot.migration.settings_changes import SettingsChanges
from bot.settings.editing.file import read_settings_file, unwritable
from bot.settings.settings import Settings
from runtime.domain.memory.keeping import MEMORIES_MAX, MEMORY_TEXT_MAX_CHARS, PROPOSED_MAX, hash_of
from runtime.errors import ConfigError
from runtime.skills.reading import read_skill
from runtime.text.naming import PERSON_NAME_MAX_CHARS, alike, fault_of_name

PEOPLE_MAX: Final = 1_000
SKILLS_MAX: Final = 200
SKILLS_FOLDER: Final = "skills"
NO_ACCEPT: Final = "An owner accepts it: signalbox skills approve {name}"
MEMORY_WAITS: Final = "waits in your private memories; `/memory accept ID` makes it count"
WAS_ADMIN: Final = "was an admin there and is a user here"


@dataclass(frozen=True, slots=True)
class Here:
    """Contents of this installation: people by identity, all their names, and digests of the owner's memories."""

    people: Mapping[str, str] = field(default_factory=dict)
    names: Collection[str] = ()
    memories: Collection[str] = ()
    """Digests of their texts."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Wishes of the person at the command."""

    items: frozenset[Item]
    with_secrets: bool = False
    accept_memory: bool = False


def planned(
    home: Home, found: Found, settings: Settings, here: Here, wishes: Wishes, sealed: Mapping[str, str]
) -> Plan:
    """All of it. `sealed` are the secrets that are sealed here. Errors: ConfigError, before anything is written."""
    plan = Plan(found.program)
    text = read_settings_file(settings.place, may_be_new=settings.file is None)
    if against := unwritable(text.place):
        raise ConfigError(against)
    plan.settings = text
    SettingsChanges(found, settings, wishes.items, wishes.with_secrets, sealed, plan).add()
    if Item.PEOPLE in wishes.items:
        _people(plan, found.people, here)
    if Item.SKILLS in wishes.items:
        _skills(plan, home, found.skills, settings.place.parent / SKILLS_FOLDER)
    if Item.MEMORY in wishes.items:
        _memories(plan, found, here, accept=wishes.accept_memory)
    for one in found.left:
        if one.item in wishes.items or one.item is Item.OTHER:
            plan.add(one.item, one.name, Action.LEAVE, one.why, one.fix)
    for path, why in home.refused.items():
        plan.add(Item.OTHER, path, Action.LEAVE, why)
    return plan


def _people(plan: Plan, people: list[FoundPerson], here: Here) -> None:
    names = {alike(name) for name in here.names}
    for one in people[:PEOPLE_MAX]:
        if one.identity in here.people:
            plan.add(Item.PEOPLE, one.identity, Action.THERE, f"is {here.people[one.identity]}")
            continue
        name = _free_name(one, names)
        names.add(alike(name))
        plan.people.append(NewPerson(name, one))
        fix = f"signalbox people role {quote(name)} operator" if one.was_admin else ""
        plan.add(Item.PEOPLE, one.identity, Action.TAKE, WAS_ADMIN if one.was_admin else f"as {name}, a user", fix)
    plan.left_more(Item.PEOPLE, len(people), PEOPLE_MAX)


def _free_name(one: FoundPerson, names: Collection[str]) -> str:
    """A name that nobody has, nor one that looks like it."""
    plain = one.name[: PERSON_NAME_MAX_CHARS - 10].replace(":", " ").strip()
    if not plain or fault_of_name(plain):
        plain = one.identity.replace(":", " ").capitalize()
    name, number = plain, 1
    while alike(name) in names:
        number += 1
        name = f"{plain} {number}"
    return name


def _skills(plan: Plan, home: Home, folders: list[FoundSkillFolder], into: Path) -> None:
    seen: set[str] = set()
    for one in folders[:SKILLS_MAX]:
        found = read_skill(home.root / one.path)
        goal = into / one.name
        if found.skill is None:
            plan.add(Item.SKILLS, one.name, Action.LEAVE, "; ".join(found.wrong))
        elif one.name in seen:
            plan.add(Item.SKILLS, one.name, Action.LEAVE, "another of that name is taken over")
        elif goal.exists() or goal.is_symlink():
            there = read_skill(goal).skill
            is_same = there is not None and there.digest == found.skill.digest
            why = "" if is_same else "there is another skill of that name"
            plan.add(Item.SKILLS, one.name, Action.THERE if is_same else Action.LEAVE, why)
        else:
            plan.skills.append((found, goal))
            fix = NO_ACCEPT.format(name=one.name)
            plan.add(Item.SKILLS, one.name, Action.TAKE, "waits until an owner accepts it", fix)
        seen.add(one.name)
    plan.left_more(Item.SKILLS, len(folders), SKILLS_MAX)


def _memories(plan: Plan, found: Found, here: Here, *, accept: bool) -> None:
    known, room = set(here.memories), (MEMORIES_MAX if accept else PROPOSED_MAX) - len(here.memories)
    there: dict[str, int] = {}
    taken: dict[str, int] = {}
    left: dict[tuple[str, str], int] = {}
    for one in found.memories:
        told = replace(one, text=f"{one.text} ({found.program}, {one.source})")
        if hash_of(told.text) in known:
            there[one.source] = there.get(one.source, 0) + 1
        elif len(told.text) > MEMORY_TEXT_MAX_CHARS:
            _count(left, (one.source, f"longer than {MEMORY_TEXT_MAX_CHARS:,} characters"))
        elif len(plan.memories) >= room:
            _count(left, (one.source, "no more fit: accept or forget some, then run this again"))
        else:
            known.add(hash_of(told.text))
            plan.memories.append(told)
            taken[one.source] = taken.get(one.source, 0) + 1
    for source, count in there.items():
        plan.add(Item.MEMORY, source, Action.THERE, _entries(count))
    for source, count in taken.items():
        plan.add(Item.MEMORY, source, Action.TAKE, _entries(count) if accept else f"{_entries(count)}: {MEMORY_WAITS}")
    for (source, why), count in left.items():
        plan.add(Item.MEMORY, source, Action.LEAVE, f"{_entries(count)}: {why}")


def _count(counts: dict[tuple[str, str], int], key: tuple[str, str]) -> None:
    counts[key] = counts.get(key, 0) + 1


def _entries(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"
