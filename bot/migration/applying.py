"""Applying a plan: a backup first, then files, secrets and rows, and the settings last of all.

Each is written whole or not at all, and each is looked for before it is written: after a kill, the next run writes the rest.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace as replace_text
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.backup.make import make
from bot.migration.found import Found
from bot.migration.plan import Plan
from bot.migration.planning import Here
from bot.node.lock import holding
from bot.node.login import command_line
from bot.secrets.disk import alone_in, replace
from bot.secrets.file import Opened, SealedFile
from bot.secrets.sealed import Entry
from bot.settings.editing.file import replace_file
from bot.settings.settings import Settings
from bot.wiring.owner import settle_owner
from bot.wiring.safety.guard import door_of
from runtime.contract import Identity, Role
from runtime.contract.memory.facts import MemoryRequest, Scope, ScopeKind, Trust
from runtime.domain.agents.manifest import MAIN
from runtime.domain.memory.keeping import hash_of
from runtime.domain.routing import AccountNames
from runtime.errors import ConfigError
from runtime.guard.findings import Gate
from runtime.skills.reading import FoundSkill
from runtime.store.store import Store, open_store

PROMPT_MODE: Final = 0o644
LISTED_AT_ONCE: Final = 200
BACKUP_NAME: Final = "before-{program}-{at:%Y%m%d-%H%M%S}.zip"


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[Store]:
    """The store, which belongs to this command inside the block. Errors: AlreadyRunning, StoreError."""
    with holding(settings.data_dir):
        store = await open_store(settings.database_url)
        try:
            yield store
        finally:
            await store.close()


async def here(store: Store) -> Here:
    """People of this installation, and the owner's own memories."""
    known = await store.people.people()
    people = {str(identity): one.person.name for one in known for identity in one.identities}
    owner = next((one.person for one in known if one.person.role is Role.OWNER), None)
    memories: set[str] = set()
    if owner is not None:
        scope, before = Scope(ScopeKind.PERSON, owner.id), ""
        while rows := await store.memories.listed(agent=MAIN, scope=scope, before=before, limit=LISTED_AT_ONCE):
            memories |= {hash_of(one.text) for one in rows}
            before = rows[-1].id
    return Here(people, [one.person.name for one in known], memories)


async def backed_up(settings: Settings, program: str) -> Path | None:
    """The backup of what is here; None where there is nothing yet."""
    if settings.database_file is not None and not settings.database_file.exists():
        return None
    name = BACKUP_NAME.format(program="".join(c for c in program.lower() if c.isalnum()), at=datetime.now(UTC))
    path = settings.data_dir / "backups" / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await make(settings.with_secrets("database_url"), path)
    if settings.file is not None:
        replace(path.with_suffix(".toml"), settings.file.read_bytes(), 0o600)
    return path


def write_files(plan: Plan) -> None:
    """Skills and the prompt. Errors: ConfigError."""
    for found, goal in plan.skills:
        _put_skill(found, goal)
    if plan.prompt_file is not None:
        try:
            plan.prompt_file.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(plan.prompt_file.parent):
                replace(plan.prompt_file, plan.prompt.encode(), PROMPT_MODE)
        except OSError as error:
            raise ConfigError(f"{plan.prompt_file} can't be written: {error.strerror}.") from error


def _put_skill(found: FoundSkill, goal: Path) -> None:
    draft = goal.with_name(f".{goal.name}.new")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        for path, data in found.contents.items():
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        draft.rename(goal)
    except OSError as error:
        raise ConfigError(f"{goal} can't be written: {error.strerror}.") from error


def seal(plan: Plan, file: SealedFile, opened: Opened) -> None:
    """Seal its secrets; a name that is there keeps its value."""
    now = datetime.now(UTC).replace(microsecond=0)
    fresh = {name: Entry(value, now) for name, value in plan.secrets.items()}

    def add(entries: dict[str, Entry]) -> None:
        for name, entry in fresh.items():
            entries.setdefault(name, entry)

    file.change(opened, add)


def cleaned(found: Found, settings: Settings) -> None:
    """Have the leak guard read memories and names, as it does with all that is kept."""
    clean = door_of(settings, AccountNames()).clean
    found.people = [
        one if clean(one.name, Gate.MEMORY_WRITE) == one.name else replace_text(one, name="") for one in found.people
    ]
    found.memories = [replace_text(one, text=clean(one.text, Gate.MEMORY_WRITE)) for one in found.memories]


async def write_rows(plan: Plan, store: Store, settings: Settings, *, accept: bool) -> list[str]:
    """People and memories. Shape: words about each that the store refused."""
    actor, refused = command_line(), []
    if plan.people or plan.memories:
        await settle_owner(store.people, settings.access.owners, None, with_link=False, actor=actor)
    for one in plan.people:
        made = await store.people.add_person(one.name, Role.USER, [Identity(one.found.identity)], actor=actor)
        if made is None:
            refused.append(f"{one.found.identity}: that account is somebody's by now")
    owner = (
        next(one.person for one in await store.people.people() if one.person.role is Role.OWNER)
        if plan.memories
        else None
    )
    if owner is not None:
        scope, trust = Scope(ScopeKind.PERSON, owner.id), Trust.SAID if accept else Trust.LOW
        for memory in plan.memories:
            wanted = MemoryRequest(memory.text, ScopeKind.PERSON, trust=trust)
            kept = await store.memories.keep_given(wanted, MAIN, scope, actor=actor, origin=plan.program)
            if isinstance(kept, str):
                refused.append(f"{memory.source}: {kept}")
    return refused


def write_settings(plan: Plan) -> None:
    """Errors: FileChanged where somebody else changed it meanwhile."""
    if plan.settings is not None and plan.changes_settings:
        replace_file(plan.settings.place, plan.settings.digest, plan.fresh)
