"""The second layer as the settings have it: what the page, the console, the API and the site are given of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from bot.auth.admitting import AdmissionRules, Doorkeeper
from bot.auth.bearers import SignedTokens
from bot.auth.browser import SignInRoutes
from bot.auth.forward import ForwardAuth, ForwardTerms
from bot.auth.layer import AuthLayer
from bot.auth.provider import Provider
from bot.auth.sessions import ProviderLinks
from bot.settings.safety.auth import AuthSection
from bot.settings.settings import Settings
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.logins.tokens import LoginTokens
from runtime.contract import Links, NewId
from runtime.domain.approvals import Rights
from runtime.http.authentication import Authenticator, SecondLayer
from runtime.oauth.issuer import IssuerTerms
from runtime.store.store import Store


def layer_of(
    settings: Settings,
    store: Store,
    new_id: NewId,
    identity: str,
    rights: Callable[[], Rights],
    signed_in: Callable[[str], None] = lambda _: None,
    *,
    ticks: Callable[[], float] = time.monotonic,
) -> tuple[Links, AuthLayer]:
    """Links and the layer behind them. `identity` is the page's; `rights` are those of the settings as they are now, and `signed_in`
    is told what a browser holds after its person has just typed their password at the provider.
    """
    auth = settings.auth
    door = doorkeeper_of(auth, store, rights, ticks)
    if auth.url:
        terms = ForwardTerms(auth.url, auth.user_header, auth.groups_header, auth.name_header)
        forward = ForwardAuth(terms, door, ticks=ticks)
        return store.people, AuthLayer(SecondLayer(ask=forward.visitor), forward.holder)
    provider = Provider(
        provider_terms(auth),
        groups_claim=auth.groups_claim,
        in_id_token=auth.groups_from == "id_token",
        audience=auth.audience,
        now=store.now,
        ticks=ticks,
    )
    sealer = login_sealer_of(settings)
    links = ProviderLinks(
        store.people,
        people=store.people,
        doorkeeper=door,
        provider=provider,
        book=store.logins,
        tokens=partial(LoginTokens, book=store.logins, sealer=sealer, now=store.now, new_id=new_id),
        sealer=sealer,
        ticks=ticks,
    )
    routes = SignInRoutes(
        provider=provider,
        links=links,
        doorkeeper=door,
        authenticator=Authenticator(links=links, identity=identity),
        sealer=sealer,
        signed_in=signed_in,
        public_url=settings.web.public_url,
    )
    tokens = SignedTokens(provider, door, now=store.now, ticks=ticks)
    return links, AuthLayer(SecondLayer(auth.called), tokens.holder, routes.routes())


def doorkeeper_of(
    auth: AuthSection, store: Store, rights: Callable[[], Rights], ticks: Callable[[], float]
) -> Doorkeeper:
    rules = AdmissionRules(
        called=auth.called,
        roles=auth.by_role,
        create=auth.create,
        by_email=auth.by_email,
        owners=auth.owners_by_group,
        blocked=lambda: rights().blocked,
        given=lambda: rights().given,
    )
    return Doorkeeper(store.people, rules, ticks)


def provider_terms(auth: AuthSection) -> IssuerTerms:
    return IssuerTerms(
        auth.called,
        auth.client_id,
        issuer=auth.issuer,
        client_secret=auth.client_secret.get_secret_value() if auth.client_secret else "",
        scopes=auth.scopes,
    )
