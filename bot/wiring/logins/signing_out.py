"""A grant is given back to its issuer, by a command: the row is read as it is, and taken away by whoever owns the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from bot.settings.safety.logins import LoginTable
from bot.settings.settings import Settings
from bot.wiring.logins.parts import issuer_terms_of, login_sealer_of
from bot.wiring.logins.tokens import place_of
from runtime.guard.sealing import Unsealable
from runtime.oauth.client import IssuerClient
from runtime.oauth.errors import IssuerError
from runtime.oauth.grant import issuer_grant_of

GIVEN_BACK: Final = "Its issuer has ended the tokens."
NOT_OFFERED: Final = "Its issuer takes no tokens back: they end by themselves."
NOT_READ: Final = "Its tokens can't be read here, so its issuer wasn't told: they end by themselves."


async def given_back(settings: Settings, table: LoginTable, kept: str) -> str:
    """Have the issuer end the tokens of the sealed grant `kept`, "" for none; a sentence about it."""
    try:
        grant = issuer_grant_of(login_sealer_of(settings)().open(kept, place_of(table.name))) if kept else None
    except Unsealable:
        grant = None
    if grant is None:
        return NOT_READ
    try:
        done = await IssuerClient(issuer_terms_of(table), now=lambda: datetime.now(UTC)).given_back(grant)
    except IssuerError as error:
        return f"Its issuer {error}, so the tokens may live on until they end."
    return GIVEN_BACK if done else NOT_OFFERED
