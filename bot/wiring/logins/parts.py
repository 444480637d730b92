"""Sign-ins of the settings: their terms, the key that seals them, and their tokens for models."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from bot.settings.safety.logins import LoginTable
from bot.settings.settings import Settings
from bot.wiring.logins.sealed_files import MadeSealer
from bot.wiring.safety.guard import key_of
from runtime.contract import NewId, Probe, no_probe
from runtime.guard.sealing import Sealer

if TYPE_CHECKING:
    from bot.wiring.logins.tokens import LoginTokens
    from runtime.oauth.client import IssuerClient
    from runtime.oauth.issuer import IssuerTerms
    from runtime.store.store import Store

SHARED_FOR: Final = b"signalbox sign-ins\0"
"""Begins what a shared key is made of, so that the same text elsewhere gives another key."""

STORE_TIME: Final = timedelta(seconds=30)
"""For storing a renewed grant: as long as its claim, behind which another node may try."""


def login_sealer_of(settings: Settings) -> MadeSealer:
    """Seals what nodes share: with the key of the settings, else with that of this data folder."""
    if shared := settings.secrets.shared_key:
        key = sha256(SHARED_FOR + shared.get_secret_value().encode()).digest()
        return lambda: Sealer(key)
    return lambda: Sealer(key_of(settings.data_dir))


def issuer_terms_of(table: LoginTable) -> IssuerTerms:
    from runtime.oauth.issuer import IssuerTerms

    return IssuerTerms(
        table.name,
        table.client_id,
        issuer=table.issuer,
        authorization_endpoint=table.authorization_endpoint,
        token_endpoint=table.token_endpoint,
        device_endpoint=table.device_endpoint,
        revocation_endpoint=table.revocation_endpoint,
        client_secret=table.client_secret.get_secret_value() if table.client_secret else "",
        scopes=table.scopes,
        audience=table.audience,
    )


def tokens_of(settings: Settings, store: Store, new_id: NewId, probe: Probe = no_probe) -> Mapping[str, LoginTokens]:
    """The tokens of each sign-in, by name. Nothing is imported where none is set."""
    if not settings.logins:
        return {}
    from bot.wiring.logins.tokens import LoginTokens
    from runtime.oauth.client import IssuerClient

    def client(table: LoginTable) -> IssuerClient:
        return IssuerClient(issuer_terms_of(table), now=store.now)

    sealer = login_sealer_of(settings)
    return {
        table.name: LoginTokens(
            table.name,
            book=store.logins,
            client=partial(client, table),
            sealer=sealer,
            now=store.now,
            new_id=new_id,
            probe=probe,
        )
        for table in settings.logins
    }
