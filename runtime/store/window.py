"""The window of a rolling upgrade: programs of two versions work on one database.

A revision expands: its `upgrade` only adds, so older programs go on as before. What has to go is taken away by its
`contract`, once no node is live whose program doesn't know the revision. So a program works with every database whose
contracts it knows, however new the schema is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from runtime.errors import StoreError
from runtime.store.schema import CONTRACTS, REVISION

VERSIONS: Final = Path(__file__).parent / "migrations" / "versions"
OUTGROWN: Final = (
    "The database is newer than this program: revision {revision} took away what this one needs, which knows those up to "
    "{newest}. Install the newer signalbox, or restore a backup."
)


@cache
def own_revisions() -> frozenset[str]:
    """Revisions that this program knows, by the names of their files."""
    return frozenset(file.name.partition("_")[0] for file in VERSIONS.glob("[0-9]*.py"))


def is_newer(revision: str) -> bool:
    """True for the revision of a newer program."""
    return revision != REVISION and revision not in own_revisions()


def check_contracts(made: Iterable[str]) -> None:
    """Errors: StoreError where a contract was made that this program doesn't know."""
    if unknown := sorted(set(made) - set(CONTRACTS)):
        raise StoreError(OUTGROWN.format(revision=unknown[0], newest=REVISION))
