"""Faults that only show when settings are looked at together: names given twice, rooms of accounts that are not there.

They are looked for before each setting is checked by itself, so that all faults are told at once: what is of a wrong type
is left alone here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bot.settings.accounts import faults_as_a_whole
from bot.settings.agents.together import faults_together as agent_faults
from bot.settings.approvals import faults_together as approval_faults
from bot.settings.events.tables import faults_together as sink_faults
from bot.settings.faults import Faults, nearest
from bot.settings.given.flags import FLAG
from bot.settings.heartbeats import faults_together as heartbeat_faults
from bot.settings.knowledge.packs import faults_together as knowledge_faults
from bot.settings.mcp import faults_together
from bot.settings.models.aliases import faults_together as model_faults
from bot.settings.models.budgets import faults_together as budget_faults
from bot.settings.policy.together import faults_together as policy_faults
from bot.settings.safety.auth import faults_together as auth_faults
from bot.settings.safety.guard import faults_together as guard_faults
from bot.settings.safety.interceptors import faults_together as interceptor_faults
from bot.settings.safety.logins import faults_together as login_faults
from bot.settings.schedules import faults_together as schedule_faults
from bot.settings.sources import Layers
from bot.settings.tools.databases import faults_together as database_faults
from bot.settings.tools.git import faults_together as git_faults
from bot.settings.tools.rooms import faults_together as room_tool_faults
from bot.settings.tools.search import faults_together as search_faults
from bot.settings.triggers.tables import faults_together as trigger_faults
from bot.settings.workflows.together import faults_together as workflow_faults
from runtime.contract import Address

WEB_ACCOUNT: Final = "web:main"
"""The page, which is there without being named."""

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def add_together(layers: Layers, faults: Faults) -> None:
    for find in (
        _same_names,
        _accounts,
        _notices,
        _hooks,
        faults_together,
        _schedules,
        _approvals,
        model_faults,
        agent_faults,
        budget_faults,
        guard_faults,
        knowledge_faults,
        database_faults,
        policy_faults,
        search_faults,
        room_tool_faults,
        workflow_faults,
        git_faults,
        sink_faults,
        login_faults,
        auth_faults,
        interceptor_faults,
    ):
        for name, fault in find(layers):
            faults.add(layers.title(name), fault)


def _same_names(layers: Layers) -> Iterator[Fault]:
    for kind, word in (
        ("accounts", "account"),
        ("hooks", "hook"),
        ("schedules", "schedule"),
        ("heartbeats", "heartbeat"),
        ("models", "model"),
        ("agents", "agent"),
        ("knowledge", "pack"),
        ("workflows", "workflow"),
        ("triggers", "trigger"),
        ("databases", "database"),
        ("event_sinks", "sink"),
        ("a2a", "peer"),
        ("logins", "sign-in"),
        ("interceptors", "interceptor"),
    ):
        first: dict[Any, str] = {}
        for place, table in layers.tables(kind):
            name = table.get("name")
            if isinstance(name, str) and name in first:
                yield f"{place}.name", f"{first[name]} has this name too; give each {word} its own"
            elif isinstance(name, str):
                first[name] = place


def _accounts(layers: Layers) -> Iterator[Fault]:
    """As the channel of each sees it."""
    for account, table in layers.tables("accounts"):
        for name, fault in faults_as_a_whole(table):
            yield f"{account}.{name}" if name else account, fault


def _notices(layers: Layers) -> Iterator[Fault]:
    yield from _nowhere(layers, "operators.room")


def _hooks(layers: Layers) -> Iterator[Fault]:
    for hook, table in layers.tables("hooks"):
        yield from _nowhere(layers, f"{hook}.to")
        if not table.get("secret") and not table.get("secret_env"):
            fix = "set secret_env to the variable that holds it; to make one: openssl rand -hex 32"
            yield f"{hook}.secret", f"is missing; {fix}"


def _schedules(layers: Layers) -> Iterator[Fault]:
    yield from schedule_faults(layers, _nowhere)
    yield from heartbeat_faults(layers, _nowhere)
    yield from trigger_faults(layers, _nowhere)


def _approvals(layers: Layers) -> Iterator[Fault]:
    yield from approval_faults(layers, _nowhere)


def _nowhere(layers: Layers, setting: str) -> Iterator[Fault]:
    """A room of an account that is not here. For one that a flag turned off, what goes there waits, as if it hadn't connected yet."""
    room = layers.get(setting)
    try:
        address = Address.parse(room) if isinstance(room, str) and room else None
    except ValueError:  # told with the setting itself
        return
    if address is None:
        return
    known = {
        f"{table.get('channel')}:{table.get('name')}": (place, table) for place, table in layers.tables("accounts")
    }
    account = f"{address.channel}:{address.account}"
    place, table = known.get(account, ("", {}))
    if table.get("enabled") is False:
        if layers.source(f"{place}.enabled") == FLAG:
            return
        yield setting, f"the account {account} is not enabled; set its enabled to true, or name another room"
    elif account not in (WEB_ACCOUNT, *known):
        near = nearest(account, [WEB_ACCOUNT, *known])
        fix = f"did you mean {near}?" if near else "add it under [[accounts]]"
        yield setting, f"there is no account {account}; {fix}"
