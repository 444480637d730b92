"""Manifest of a backup: the last member of the archive, so that one without it was cut off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from bot.backup.errors import BadBackup

FORMAT: Final = 1
MANIFEST_NAME: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` in the order of the rows, which stand one a line in the member `tables/NAME.jsonl`."""

    columns: Sequence[str]
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """`members` are all others of the archive: name to SHA-256 in hex. `left_out` names what is not in it and why."""

    id: str
    taken_at: datetime
    program: str
    revision: str
    engine: str
    tables: Mapping[str, Table]
    members: Mapping[str, str]
    left_out: Sequence[str] = ()

    def to_json(self) -> str:
        values = {
            "signalbox backup": FORMAT,
            "id": self.id,
            "taken_at": self.taken_at.isoformat(),
            "program": self.program,
            "revision": self.revision,
            "engine": self.engine,
            "tables": {name: {"columns": list(t.columns), "rows": t.rows} for name, t in self.tables.items()},
            "left_out": list(self.left_out),
            "members": dict(self.members),
        }
        return json.dumps(values, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Errors: BadBackup when a newer program wrote it, or nothing of ours."""
        try:
            said = json.loads(text)
            number = said["signalbox backup"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadBackup("its manifest isn't from Signalbox.") from error
        if number != FORMAT:
            raise BadBackup(
                f"it was made by signalbox {said.get('program', '?')} in format {number}, and this program reads "
                f"format {FORMAT}: install the version that made it, or a newer one."
            )
        try:
            return _read(said)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadBackup(f"its manifest is damaged ({type(error).__name__}: {error}).") from error


def _read(said: Mapping[str, Any]) -> Manifest:
    return Manifest(
        id=str(said["id"]),
        taken_at=datetime.fromisoformat(said["taken_at"]),
        program=str(said["program"]),
        revision=str(said["revision"]),
        engine=str(said["engine"]),
        tables={name: Table(tuple(t["columns"]), int(t["rows"])) for name, t in said["tables"].items()},
        members={str(name): str(digest) for name, digest in said["members"].items()},
        left_out=tuple(said["left_out"]),
    )
