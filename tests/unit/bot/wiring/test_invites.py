"""Who may invite the agent into a room, as the settings of now say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from bot.settings.settings import load
from bot.wiring.access import Invites, gate_of
from runtime.contract import Address, Identity, Person, PersonId, Role

ADA: Final = Identity("matrix:@ada:hs.test")
BOB: Final = Identity("matrix:@bob:hs.test")
ROOM: Final = Address("matrix", "@bot:hs.test", "!r:hs.test")


class OnlyAda:
    """A store that knows one person."""

    async def identified(self, identity: Identity) -> Person | None:
        return Person(PersonId("p"), "Ada", Role.USER) if identity == ADA else None


@pytest.mark.parametrize(
    ("access", "who", "alone", "may"),
    [
        ({"default": "pair"}, ADA, False, True),
        ({"default": "pair"}, BOB, True, True),  # who writes alone gets a pairing code
        ({"default": "pair"}, BOB, False, False),
        ({"default": "deny"}, BOB, True, False),
        ({"default": "deny"}, ADA, False, True),
        ({"default": "allow"}, BOB, False, True),
        ({"default": "allow", "blocked": [BOB]}, BOB, False, False),
        ({"default": "allow", "blocked": ["Ada"]}, ADA, True, False),
    ],
)
async def test_whoever_would_be_heard_there_may_invite(
    access: Mapping[str, Any], who: Identity, alone: bool, may: bool
) -> None:
    settings = load(overrides={f"access.{name}": value for name, value in access.items()}, environ={})
    invites: Any = Invites(OnlyAda())  # type: ignore[arg-type]  # of the store nothing else is asked
    assert not await invites(who, ROOM, alone), "before the rules are known nobody may"
    invites.gate = lambda: gate_of(settings)
    assert await invites(who, ROOM, alone) is may
