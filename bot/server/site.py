"""The one web application of the process: the page, webhooks of channels, the console, health and metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from aiohttp import web

from adapters.web.adapter import CHANNEL
from bot.accounts.supervisor import AccountSupervisor
from bot.console.routes import console_routes
from bot.doors.routes import DOOR_PATHS, door_routes
from bot.http.health import Check, health_routes
from bot.operator.context import OperatorContext
from runtime.http.guard import bears, install, is_our_host

LARGEST_REQUEST: Final = 1 << 20  # bytes; files are streamed past it


def site_of(
    accounts: Iterable[AccountSupervisor],
    context: OperatorContext,
    *,
    hosts: Sequence[str],
    checks: Mapping[str, Check],
    stuck: Callable[[], str | None] = lambda: None,
    token: str = "",
    others: Iterable[web.RouteDef],
    hooks: Iterable[web.RouteDef] = (),
) -> web.Application:
    """`checks` are those of health, beside how the accounts stand; what they found is told under our own names, or to
    who shows `token`. `stuck` is why the process must end. `others` are further routes; `hooks` check by themselves who
    sent a request."""
    pages: list[web.RouteDef] = []
    webhooks: list[web.RouteDef] = list(hooks)
    every = list(accounts)
    for account in every:
        (pages if account.channel == CHANNEL else webhooks).extend(account.routes())
    site = web.Application(client_max_size=LARGEST_REQUEST)
    install(site, hosts, webhooks=[*DOOR_PATHS, *(route.path for route in webhooks)])
    site.add_routes([*pages, *webhooks, *console_routes(context), *door_routes(context), *others])
    every_check = {**checks, **{account.name: trouble_of(account) for account in every}}
    may_know = partial(is_watcher, hosts=frozenset(host.lower() for host in hosts), token=token)
    site.add_routes(health_routes(every_check, stuck=stuck, may_know=may_know))
    return site


def is_watcher(request: web.Request, *, hosts: Collection[str], token: str) -> bool:
    """True if the reasons of `/healthz` and `/readyz`, which name accounts and places, are for whoever asks."""
    return is_our_host(request, hosts) or (bool(token) and bears(request, token))


def trouble_of(account: AccountSupervisor) -> Callable[[], str | None]:
    """Asks an account how it stands with its platform."""
    return lambda: account.standing().trouble
