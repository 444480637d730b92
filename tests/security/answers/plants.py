"""Bugs put where answers are judged, each of which the campaign must find. The product knows of none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from sqlalchemy import bindparam, update

from runtime.contract import Choice, Person, PersonId, Role
from runtime.domain import approvals as domain
from runtime.policy.grants import Wish, wished
from runtime.store.approvals import decisions, undo_offers
from runtime.store.approvals.granted import giving, rows, together
from runtime.store.schema import grants
from runtime.store.sql.driver import Op

Plant = Callable[[pytest.MonkeyPatch], None]
ENDLESS_USE: Final = (
    update(grants).where(grants.c.id == bindparam("id_")).values(tool=grants.c.tool).returning(grants.c.by)
)


def any_room(bend: pytest.MonkeyPatch) -> None:
    bend.setattr(domain, "_in_place", lambda *_: True)


def anybody(bend: pytest.MonkeyPatch) -> None:
    bend.setattr(domain, "not_entitled", lambda *_: None)


def any_revision(bend: pytest.MonkeyPatch) -> None:
    """A card from before a change still decides."""
    bend.setattr(decisions, "MEANWHILE", None)


def one_is_enough(bend: pytest.MonkeyPatch) -> None:
    """Somebody else has always approved already."""

    def voted(*_: Any) -> Op[list[Person]]:
        yield from ()
        return [Person(PersonId("nobody"), "Nobody", Role.OWNER)]

    bend.setattr(decisions, "voted", voted)


def boundless_grants(bend: pytest.MonkeyPatch) -> None:
    """Of what was filled in only the pattern is looked at."""

    def wide(values: Mapping[str, str], *more: Any) -> Wish | str:
        return wished({"pattern": values["pattern"]} if "pattern" in values else {}, *more)

    bend.setattr(giving, "wished", wide)


def endless_grants(bend: pytest.MonkeyPatch) -> None:
    """A use is not counted."""
    bend.setattr(rows, "USE", ENDLESS_USE)


def late_undo(bend: pytest.MonkeyPatch) -> None:
    bend.setattr(undo_offers, "_too_late", lambda row, _: None if row else "There is nothing to undo.")


def all_from_anywhere(bend: pytest.MonkeyPatch) -> None:
    """Every card takes "Approve all"."""
    bend.setattr(together, "offered", lambda _: (Choice.ALL,))


def any_words(bend: pytest.MonkeyPatch) -> None:
    """Whoever may speak answers what somebody else was asked."""
    bend.setattr(domain, "_cannot_answer", lambda *_: None)


BUGS: Final[Mapping[str, Plant]] = {
    "any-room": any_room,
    "anybody": anybody,
    "any-revision": any_revision,
    "one-is-enough": one_is_enough,
    "boundless-grants": boundless_grants,
    "endless-grants": endless_grants,
    "late-undo": late_undo,
    "all-from-anywhere": all_from_anywhere,
    "any-words": any_words,
}
