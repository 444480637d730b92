"""Tools for programs that live on between calls, and the duty that looks after these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from bot.settings.settings import Settings
from runtime.contract import BOUNDLESS, Space, Tool
from runtime.contract.agents.processes import ProcessBook
from tools.processes.host import Limits, ProcessHost
from tools.processes.tools import process_tools
from tools.sandbox.sandbox import Sandbox


def host_of(settings: Settings, sandbox: Sandbox, book: ProcessBook, space: Space = BOUNDLESS) -> ProcessHost:
    """The programs of this process of Signalbox."""
    bounds = settings.tools.processes
    return ProcessHost(sandbox, book, Limits(bounds.at_once, bounds.minutes), space)


def process_tools_of(host: ProcessHost) -> Mapping[str, Tool]:
    """By name."""
    return {tool.spec.name: tool for tool in process_tools(host)}


def known_process_tools(settings: Settings, sandbox: Sandbox) -> Mapping[str, Tool]:
    """The same for whoever only looks at them."""
    return process_tools_of(host_of(settings, sandbox, cast("ProcessBook", None)))
