"""Words of a provider about a person, and the role that their groups give. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.contract import Identity, Role

EVERYBODY: Final = "*"
"""In place of a group: whoever the provider lets sign in."""
SUBJECT_MAX_CHARS: Final = 255
"""Source: OpenID Connect Core 1.0, section 2, `sub`."""
GROUPS_READ_MAX: Final = 2_000
"""Groups of one person that are looked at."""
OIDC_PREFIX: Final = "oidc:"
"""Begins the identities of people that an OpenID provider names."""
PROXY_PREFIX: Final = "auth:"
"""Begins those that a forward-auth address names."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Somebody in the words of a provider. `email` is empty unless the provider verified it. `groups` is None where it says nothing of groups.

    `signed_in_at` is when they showed there who they are, in seconds since 1970; None where it doesn't say.
    """

    subject: str
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] | None = None
    prefix: str = OIDC_PREFIX
    signed_in_at: float | None = None

    @property
    def identity(self) -> Identity:
        return Identity(f"{self.prefix}{self.subject}")


def claims_of(told: Mapping[str, Any], groups_claim: str) -> Claims | None:
    """The claims in an ID token, an access token or an answer of userinfo; None without a usable subject."""
    subject = told.get("sub")
    if not isinstance(subject, str) or not is_subject(subject):
        return None
    email = told.get("email")
    # Beyond ASCII, two addresses may be one in small letters: that of somebody else.
    is_known = isinstance(email, str) and email.isascii() and told.get("email_verified") is True
    names = (told.get(key) for key in ("name", "preferred_username"))
    name = next((one for one in names if isinstance(one, str) and one.strip()), "")
    return Claims(subject, name, str(email).lower() if is_known else "", groups_in(told, groups_claim))


def is_subject(text: str) -> bool:
    """True for what can be a part of an identity: printable ASCII without blanks."""
    return 0 < len(text) <= SUBJECT_MAX_CHARS and text.isascii() and text.isprintable() and " " not in text


def groups_in(told: Mapping[str, Any], claim: str) -> tuple[str, ...] | None:
    """The groups under a name, or under a path of names with dots; None where nothing is there.

    A text is one group, never a list of several: a blank or a comma may be part of a name.

    >>> groups_in({"realm_access": {"roles": ["ops", 7]}}, "realm_access.roles")
    ('ops',)
    >>> groups_in({"groups": "ops, owners"}, "groups")
    ('ops, owners',)
    """
    found = told.get(claim)
    if found is None and "." in claim:
        found = told
        for piece in claim.split("."):
            found = found.get(piece) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return (found,)
    if isinstance(found, list):
        return tuple(one for one in found[:GROUPS_READ_MAX] if isinstance(one, str))
    return None


def role_of(groups: Sequence[str], roles: Mapping[Role, Sequence[str]]) -> Role | None:
    """The highest role that one of the groups gives, letter by letter; None for somebody without any.

    >>> role_of(["ops"], {Role.USER: ("*",), Role.OPERATOR: ("ops",)})
    <Role.OPERATOR: 2>
    >>> role_of(["Ops"], {Role.OPERATOR: ("ops",)}) is None
    True
    """
    mine = {*groups, EVERYBODY}
    return max((role for role, names in roles.items() if mine.intersection(names)), default=None)
