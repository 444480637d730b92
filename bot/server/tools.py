"""Tools that the agent of this process may call, and what the console needs of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

from bot.accounts.naming import Named
from bot.operator.reports import figure_tools
from bot.settings.settings import Settings
from bot.telemetry.instrument import Duty
from bot.wiring.engine import shell_of
from bot.wiring.mcp import AtWork, Toolbox, Wrap, check_sandboxes, toolbox_of
from bot.wiring.safety.egress import egress_of
from bot.wiring.scheduling import planning_tools
from bot.wiring.tools.browser import browsers_of, tools_of_browser
from bot.wiring.tools.builds import build_tools_of
from bot.wiring.tools.git import git_tools
from bot.wiring.tools.known import installed_tools
from bot.wiring.tools.modules import containers_of, module_tools
from bot.wiring.tools.processes import host_of, process_tools_of
from bot.wiring.tools.requests import request_tools
from bot.wiring.tools.search import search_tools
from runtime.contract import SPEND_MORE, Figures, Now, Space, TaskBoard, Timetable, Tool
from runtime.contract.agents.processes import ProcessBook
from runtime.errors import ConfigError
from tools.agents import NewAgents, agent_tools
from tools.beyond_budget import SPEND_BEYOND_BUDGET
from tools.catalogue import first_tools
from tools.charting.renderer import ChartRenderer
from tools.delegation import Children, HandsOver, delegation_tools
from tools.git.checkpoints import checkpoint_tool
from tools.kit.rooms import Rooms
from tools.processes.host import ProcessHost
from tools.reports import MayRead, Naming
from tools.sandbox.shell import Sandbox, sandbox_for
from tools.sandbox.spaced import SpacedSandbox, SpacedTool
from tools.tasks import task_tools

if TYPE_CHECKING:
    from tools.browser.browsers import Browsers
    from tools.containers.boxes import Containers

log = structlog.get_logger("app")

WRITERS: Final = ("write_file", "chart", "browser_screenshot", "image_make", "speak", "goal_save")
"""Tools that write files into a room; the shell looks after itself."""
BESIDE_A_TESTS: Final = ("channel_send", "workflow_start", "goal_set")
"""Tools of ours that lead to work of their own, which a test's stand beside. Those that no model is told of do in any case."""
"""Tools that post through the outbox: what is shown is told by rows, also where a test brings the others."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """`toolbox` is what agents are offered; `figures`, which are among it, also make the reports of operators."""

    settings: Settings
    toolbox: Toolbox
    figures: Mapping[str, Tool]
    sandbox: Sandbox
    processes: ProcessHost
    browsers: Browsers | None
    containers: Containers | None

    def duties(self) -> Iterator[Duty]:
        """Loops of the tools, for as long as this process is a node."""
        yield self.check
        yield self.processes.run
        yield from self.toolbox.duties()
        if self.browsers:
            yield self.browsers.run

    async def check(self) -> None:
        """Test the sandboxes. Beside the start, since it takes longer than the rest of it.

        Errors: ConfigError when a sandbox is demanded that cannot work here.
        """
        if self.containers:
            await self.containers.sweep()
        await check_sandboxes(self.settings)
        trouble = await self.sandbox.self_test()
        if trouble and shell_of(self.settings).required:
            raise ConfigError(f'tools.shell.sandbox: "bwrap" is required, but it cannot work here. {trouble}')
        if trouble:
            log.warning("the shell tool refuses every call", reason=trouble)


def toolkit_of(
    settings: Settings,
    rooms: Rooms,
    *,
    timetable: Timetable,
    children: Children,
    hands: HandsOver,
    board: TaskBoard,
    remembering: Sequence[Tool],
    agents: NewAgents,
    figures: Figures,
    may_read: MayRead,
    named: Named,
    naming: Naming,
    now: Now,
    wrap: Wrap,
    instead: Mapping[str, Tool] | None,
    space: Space,
    more: Mapping[str, Tool],
    processes: ProcessBook,
    at_work: AtWork,
) -> Toolkit:
    """`wrap` is around each tool; `more` are other tools of ours; `instead` of our own, but for those and such as hand work on, are
    a test's. Errors: ConfigError."""
    shell = shell_of(settings)
    sandbox = SpacedSandbox(sandbox_for(shell), space)
    renderer = ChartRenderer(settings.data_dir / "fonts")
    reported = figure_tools(figures, now, naming, may_read)
    own = first_tools(shell, sandbox=sandbox, egress=egress_of(settings), renderer=renderer)
    own |= planning_tools(timetable, rooms, named)
    handing = delegation_tools(children, hands, now)
    handing |= {tool.spec.name: tool for tool in (*task_tools(board), *remembering)}
    own |= handing | agent_tools(agents) | reported | dict(more)
    browsers = browsers_of(settings)
    own |= {**search_tools(settings), **request_tools(settings, at_work.secrets), **git_tools(settings, sandbox, space)}
    host = host_of(settings, sandbox, processes, space)
    own |= {**process_tools_of(host), **build_tools_of(settings, sandbox), **tools_of_browser(browsers)}
    saving, containers = checkpoint_tool(sandbox, timeout=shell.timeout), containers_of(settings)
    own |= {saving.spec.name: saving, **module_tools(settings, containers, space)}
    own |= {name: SpacedTool(own[name], space) for name in WRITERS if name in own}
    own[SPEND_MORE] = SPEND_BEYOND_BUDGET
    own |= installed_tools(settings, own)
    beside = {name: tool for name, tool in more.items() if name in BESIDE_A_TESTS or tool.spec.untold}
    toolbox = toolbox_of(settings, {**handing, **beside, **instead} if instead else own, wrap, at_work)
    if settings.tools.folder and settings.tools.folder.is_dir():
        from bot.wiring.tools.folder import folder_of

        toolbox.watch_folder(folder_of(settings, settings.tools.folder, toolbox.renew))
    return Toolkit(settings, toolbox, reported, sandbox, host, browsers, containers)
