"""People whom the settings name: is there one of each name, and who is it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.settings.settings import Settings
from bot.wiring.identities import named
from runtime.contract import Finding
from runtime.text.naming import alike, is_identity

NAMES_AND_IDENTITIES: Final = (
    "SELECT p.name, i.identity FROM people p LEFT JOIN identities i ON i.person_id = p.id ORDER BY 1, 2"
)
ANYBODY: Final = "*"
WEB_IDENTITY_PREFIX: Final = "web:"
"""Begins the identity that everybody has."""

Names = Mapping[str, Sequence[str]]
"""The identities of people, by their names."""


async def check_people(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    if not any(True for _ in _written(settings)):
        return []
    (rows,) = await rows_of(settings, NAMES_AND_IDENTITIES)
    if not rows:  # before the first start, or told by the check of the store
        return []
    known: dict[str, list[str]] = {}
    for name, identity in rows:
        known.setdefault(name, []).extend([identity] if identity else [])
    return list(findings(settings, known))


def findings(settings: Settings, known: Names) -> Iterator[Finding]:
    """About each name in the settings."""
    for place, name in _written(settings):
        yield _of(place, name, known)


def _written(settings: Settings) -> Iterator[tuple[str, str]]:
    for place, names, _ in named(settings):
        yield from ((place, name) for name in names if name != ANYBODY and not is_identity(name))


def _of(place: str, name: str, known: Names) -> Finding:
    ident, like = f"people.{place}.{name}", [one for one in known if alike(one) == alike(name)]
    if len(like) > 1:
        those = " and ".join(_told(one, known) for one in like)
        why = "They are easily confused. The setting means the one with this exact spelling."
        fix = f"write an identity in {place}, or: signalbox people rename"
        return warning(ident, f'{place} names "{name}", and there are {those}', why, fix)
    if name in known:
        return fine(ident, f"{place}: {_told(name, known)}")
    if any(fnmatchcase(identity, name) for identities in known.values() for identity in identities):
        return fine(ident, f'{place}: "{name}" fits accounts that are known')
    why = "So it applies to nobody. No newcomer can take a name that the settings give rights to."
    fix = 'signalbox people list shows names and accounts; write one of them, such as "slack:work/U1"'
    return warning(ident, f'{place} names "{name}", but nobody has that name', why, fix)


def _told(name: str, known: Names) -> str:
    accounts = [identity for identity in known[name] if not identity.startswith(WEB_IDENTITY_PREFIX)]
    return f'"{name}" ({", ".join(accounts) or "the page alone"})'
