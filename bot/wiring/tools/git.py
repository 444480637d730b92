"""Git tools: those of the workspace always, and those that reach servers where the settings name some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.safety.egress import rules_of
from runtime.contract import BOUNDLESS, Space, Tool
from runtime.egress import Egress, Opening, Result, Rule
from tools.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from tools.git.hosts import GitHost


def git_tools(settings: Settings, sandbox: Sandbox, space: Space = BOUNDLESS) -> Mapping[str, Tool]:
    """By name."""
    from tools.git.local import local_tools

    every = local_tools(sandbox, timeout=shell_of(settings).timeout)
    if settings.git:
        from tools.git.hosts import GitWeb
        from tools.git.remote import Remotes, remote_tools

        # The operator named the servers: only what their rules refuse is refused.
        rules = [*rules_of(settings), *(rule for host in hosts_of(settings) for rule in opened(host))]
        egress = Egress(rules, allow=[Opening.parse(text) for text in settings.egress.allow])
        every += remote_tools(Remotes(sandbox, GitWeb(egress, hosts_of(settings)), space))
    return {tool.spec.name: tool for tool in every}


def hosts_of(settings: Settings) -> Sequence[GitHost]:
    from tools.git.hosts import GitHost

    return [
        GitHost(table.url, table.user, table.token.get_secret_value() if table.token else "") for table in settings.git
    ]


def opened(host: GitHost) -> Sequence[Rule]:
    """Rules that let git tools look and send there."""
    parts = urlsplit(host.url)
    ports = frozenset({parts.port}) if parts.port else frozenset[int]()
    path = f"{parts.path.rstrip('/')}/*"
    return [
        Rule(Result.ALLOW, "git_*", parts.hostname or "", path, method=method, ports=ports)
        for method in ("GET", "POST")
    ]
