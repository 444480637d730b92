"""Files that a finished draft makes: sealed secrets, the first person, and last of all the settings file.

Each is written whole or not at all, and the settings come last: who is interrupted begins anew with nothing in the way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.node.lock import holding
from bot.node.login import command_line
from bot.secrets.disk import alone_in, mode_of, replace
from bot.secrets.file import Opened, SealedFile
from bot.secrets.sealed import Entry
from bot.settings.settings import load
from bot.settings.sources import safe_lines
from bot.wizard.draft import Draft
from runtime.contract import Role
from runtime.errors import ConfigError, StoreError
from runtime.guard.masks import Mask
from runtime.store.store import open_store

MOST_SHOWN: Final = 40  # lines of a settings file that is in the way
READABLE: Final = 0o644  # no secret is in it, and the service may be another user than who set it up

Unlock = Callable[[SealedFile], Opened]
"""Opens the sealed file, or makes it."""


def require_free(file: Path, *, force: bool) -> None:
    """Errors: ConfigError shows the settings that are there, without their secrets."""
    if force or not file.exists():
        return
    lines = safe_lines(file.read_text(encoding="utf-8", errors="replace"))
    shown = [f"    {line}" for line in lines[:MOST_SHOWN]] + (["    …"] if len(lines) > MOST_SHOWN else [])
    fix = f"Edit it, or start over with --force, which keeps it as {file.name}.bak."
    raise ConfigError("\n".join([f"{file} already exists, and says:", *map(Mask(), shown), fix]))


def seal_secrets(draft: Draft, unlock: Unlock) -> None:
    if not draft.secrets:
        return
    file = SealedFile(draft.sealed)
    opened = unlock(file)
    now = datetime.now(UTC).replace(microsecond=0)
    fresh = {name: Entry(kept.value, now) for name, kept in draft.secrets.items()}
    file.change(opened, lambda entries: entries.update(fresh))


async def add_owner(draft: Draft) -> str | None:
    """Put the first person into the store, which is made if need be; what keeps us from it, in words.

    A database that is away need not be waited for: the first start makes an owner too, by the name of "owner".
    """
    if not draft.owner:
        return None
    try:
        with holding(draft.data_dir):
            store = await open_store(draft.database_url)
            try:
                known = await store.people.people()
                if not any(one.person.role is Role.OWNER for one in known):
                    await store.people.add_person(draft.owner, Role.OWNER, [], actor=command_line())
            finally:
                await store.close()
    except (StoreError, ConfigError) as error:
        return str(error)
    return None


def write_settings(draft: Draft) -> None:
    """Errors: ConfigError when the folder cannot be written; also when the settings are none, which is a bug of ours."""
    text = draft.toml()
    try:
        draft.file.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(draft.file.parent):
            if draft.file.exists():
                kept = draft.file.with_name(f"{draft.file.name}.bak")
                replace(kept, draft.file.read_bytes(), mode_of(draft.file))
            replace(draft.file, text.encode(), READABLE)
    except OSError as error:
        raise ConfigError(
            f"{draft.file}: it can't be written ({error.strerror}). Choose another with --config."
        ) from None
    load(draft.file, environ={}, demand=())
