"""Tools that the agent of this process may call, and what the console needs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

import structlog

from bot.accounts.naming import Accounts, Named
from bot.accounts.supervisor import AccountSupervisor
from bot.operator.reports import figure_tools
from bot.plugins.packages import tools_named
from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.mcp import Toolbox, Wrap, check_sandboxes, terms_of, toolbox_of
from bot.wiring.safety.egress import egress_of
from bot.wiring.scheduling import planning_tools
from runtime.contract import SPEND_MORE, Effect, Figures, Now, Space, TaskBoard, Timetable, Tool
from runtime.contract.memory.facts import MemoryBook
from runtime.contract.memory.values import StateBook
from runtime.errors import ConfigError
from runtime.policy.budgets import Then
from tools.agents import NewAgents, agent_tools
from tools.beyond_budget import SPEND_BEYOND_BUDGET
from tools.catalogue import first_tools
from tools.charting.renderer import ChartRenderer
from tools.delegation import Children, HandsOver, delegation_tools
from tools.remembering.catalogue import remembering_tools
from tools.reports import Naming, report_tools
from tools.sandbox.shell import Sandbox, sandbox_for
from tools.sandbox.spaced import SpacedSandbox, SpacedTool
from tools.schedules import schedule_tools
from tools.tasks import task_tools

log = structlog.get_logger("app")

WRITERS: Final = ("write_file", "chart")
"""Tools that write files into a room; the shell looks after itself."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """`toolbox` is what agents are offered; `figures`, which are among it, also make the reports of operators."""

    settings: Settings
    toolbox: Toolbox
    figures: Mapping[str, Tool]
    sandbox: Sandbox

    async def check(self) -> None:
        """Test the sandboxes. Beside the start, since it takes longer than the rest of it.

        Errors: ConfigError when a sandbox is demanded that cannot work here.
        """
        await check_sandboxes(self.settings)
        trouble = await self.sandbox.self_test()
        if trouble and shell_of(self.settings).required:
            raise ConfigError(f'tools.shell.sandbox: "bwrap" is required, but it cannot work here. {trouble}')
        if trouble:
            log.warning("the shell tool refuses every call", reason=trouble)


def _installed(settings: Settings, own: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Tools of packages that the settings name. Errors: ConfigError, also for one by the name of a tool of ours."""
    if not settings.tools.installed:
        return {}
    if taken := own.keys() & settings.tools.installed:
        raise ConfigError(f"tools.installed: {', '.join(sorted(taken))} is built in. Remove it here.")
    return tools_named(settings.tools.installed)


def toolkit_of(
    settings: Settings,
    accounts: Accounts[AccountSupervisor],
    *,
    timetable: Timetable,
    children: Children,
    hands: HandsOver,
    board: TaskBoard,
    remembering: Sequence[Tool],
    agents: NewAgents,
    figures: Figures,
    named: Named,
    naming: Naming,
    now: Now,
    wrap: Wrap,
    instead: Mapping[str, Tool] | None,
    space: Space,
) -> Toolkit:
    """`wrap` is around each tool; `instead` of our own, but for those that hand work on, are a test's. Errors: ConfigError."""
    shell = shell_of(settings)
    sandbox = SpacedSandbox(sandbox_for(shell), space)
    renderer = ChartRenderer(settings.data_dir / "fonts")
    reported = figure_tools(figures, now, naming)
    own = first_tools(shell, sandbox=sandbox, egress=egress_of(settings), renderer=renderer)
    own |= {name: SpacedTool(own[name], space) for name in WRITERS if name in own}
    own |= planning_tools(timetable, accounts, named)
    handing = delegation_tools(children, hands, now)
    handing |= {tool.spec.name: tool for tool in (*task_tools(board), *remembering)}
    own |= handing | agent_tools(agents) | reported
    if settings.budgets.rules.then is Then.ASK:
        own[SPEND_MORE] = SPEND_BEYOND_BUDGET
    own |= _installed(settings, own)
    return Toolkit(settings, toolbox_of(settings, {**handing, **instead} if instead else own, wrap), reported, sandbox)


def known_tools(settings: Settings) -> Mapping[str, Tool]:
    """Tools that are known without a process: those of MCP servers are known while these run. None is to be called."""
    renderer = ChartRenderer(settings.data_dir / "fonts")
    own = first_tools(shell_of(settings), egress=egress_of(settings), renderer=renderer)
    own |= {tool.spec.name: tool for tool in report_tools(cast("Figures", None), now=lambda: datetime.now(UTC))}
    own |= {tool.spec.name: tool for tool in schedule_tools(cast("Timetable", None))}
    own |= delegation_tools(cast("Children", None), cast("HandsOver", None), lambda: datetime.now(UTC))
    own |= {tool.spec.name: tool for tool in task_tools(cast("TaskBoard", None))}
    own |= agent_tools(cast("NewAgents", None))
    if settings.memory.enabled:
        own |= {tool.spec.name: tool for tool in remembering_tools(cast("MemoryBook", None), cast("StateBook", None))}
    return {**own, **_installed(settings, own)}


def server_effect(settings: Settings, tool: str) -> Effect | None:
    """Effect of an MCP server's tool, as far as the settings say so; None for a tool of no server."""
    for table in settings.mcp:
        if table.enabled and tool.startswith(f"{table.name}_"):
            return terms_of(settings, table).effect_of(tool.removeprefix(f"{table.name}_"), read_only=False)
    return None
