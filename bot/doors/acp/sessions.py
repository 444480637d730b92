"""Sessions that editors began on this machine: a file beside the data, so that they can be listed and loaded again."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

SESSIONS_FOLDER: Final = "acp"
SESSIONS_FILE: Final = "sessions.json"
SESSIONS_KEPT: Final = 500
"""The oldest leave the list; their conversations stay."""
SESSION_TITLE_MAX_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Session:
    """A session is a conversation of the page, by its room's name. `cwd` is the editor's folder."""

    id: str
    cwd: str
    title: str = ""
    updated_at: str = ""
    agent: str = ""
    model: str = ""


class Sessions:
    """Each change is written at once, by replacing the file: two editors may be at work."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / SESSIONS_FOLDER / SESSIONS_FILE

    def begin(self, cwd: str) -> Session:
        session = Session(f"acp{secrets.token_hex(8)}", cwd, updated_at=_now())
        self._write({**self._read(), session.id: session})
        return session

    def find(self, session: str) -> Session | None:
        return self._read().get(session)

    def spoke(self, session: str, text: str) -> Session | None:
        """Note that somebody spoke there; the first words are its title."""
        known = self._read()
        if (found := known.get(session)) is None:
            return None
        title = found.title or " ".join(text.split())[:SESSION_TITLE_MAX_CHARS]
        known[session] = replace(found, title=title, updated_at=_now())
        self._write(known)
        return known[session]

    def chose(self, session: str, *, agent: str | None = None, model: str | None = None) -> None:
        known = self._read()
        if found := known.get(session):
            known[session] = replace(
                found, agent=found.agent if agent is None else agent, model=found.model if model is None else model
            )
            self._write(known)

    def newest(self, cwd: str | None = None) -> Iterator[Session]:
        known = sorted(self._read().values(), key=lambda one: one.updated_at, reverse=True)
        return (one for one in known if cwd is None or one.cwd == cwd)

    def _read(self) -> dict[str, Session]:
        with suppress(OSError, ValueError, TypeError):
            told = json.loads(self._file.read_text(encoding="utf-8"))
            return {row["id"]: Session(**row) for row in told}
        return {}

    def _write(self, known: dict[str, Session]) -> None:
        rows = sorted(known.values(), key=lambda one: one.updated_at)[-SESSIONS_KEPT:]
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._file.with_name(f".{SESSIONS_FILE}.{os.getpid()}")
        draft.write_text(json.dumps([asdict(row) for row in rows], ensure_ascii=False), encoding="utf-8")
        draft.replace(self._file)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
