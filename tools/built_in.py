"""The tools that are built in, for whoever only looks at them: what they are called and what they may do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tools.agents import agent_tools
from tools.browser.tools import browser_tools
from tools.builds.tools import OwnCommands, build_tools
from tools.catalogue import first_tools
from tools.charting.chart import chart_tool
from tools.containers.boxes import Containers
from tools.containers.engines import ContainerTerms
from tools.containers.tool import container_tool
from tools.databases.tool import query_tool
from tools.delegation import delegation_tools
from tools.git.hosts import GitWeb
from tools.git.local import local_tools
from tools.git.remote import Remotes, remote_tools
from tools.goals import SetsGoals, goal_tools, no_cost
from tools.kit.rooms import AS_STORED
from tools.knowledge import knowledge_tools
from tools.peers.asking import AskedPeers, peer_tools
from tools.pictures.speaking import SPOKEN_BY_NOBODY
from tools.pictures.tools import Media, media_tools
from tools.posting.changes import changing_tools
from tools.posting.messages import posting_tools
from tools.processes.host import ProcessHost
from tools.processes.tools import process_tools
from tools.remembering.catalogue import remembering_tools
from tools.reports import report_tools
from tools.sandbox.shell import ShellSettings, sandbox_for
from tools.schedules import schedule_tools
from tools.skills.proposing import propose_tool
from tools.skills.skills import skill_tools
from tools.tasks import task_tools
from tools.wasm.runner import WasmTerms
from tools.wasm.tool import wasm_tool
from tools.watching.watches import watching_tools
from tools.web.fetch import http_tool
from tools.web.searching.tool import search_tool
from tools.web.sending import request_tool
from tools.workflows import workflow_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtime.contract import Changing, Figures, Posting, Space, TaskBoard, Timetable, Tool
    from runtime.contract.agents.peers import PeerTasks
    from runtime.contract.agents.processes import ProcessBook
    from runtime.contract.agents.skills import Proposals, ProposalUndo
    from runtime.contract.agents.watches import Watches
    from runtime.contract.agents.workflows import Workflows
    from runtime.contract.memory.facts import MemoryBook
    from runtime.contract.memory.knowledge import KnowledgeBook
    from runtime.contract.memory.values import StateBook
    from runtime.egress import Egress
    from tools.agents import NewAgents
    from tools.browser.browsers import Browsers
    from tools.charting.renderer import ChartRenderer
    from tools.delegation import Children, HandsOver
    from tools.skills.skills import SkillBook


def built_in_tools() -> dict[str, Tool]:
    """Each by its name, also those that only some settings turn on. None is to be called: there is nothing behind them."""
    egress = cast("Egress", None)
    web, chart = (
        (http_tool(egress), request_tool(egress), search_tool(egress, [])),
        chart_tool(cast("ChartRenderer", None)),
    )
    reports = report_tools(cast("Figures", None), now=lambda: datetime.now(UTC))
    tasks, planned = task_tools(cast("TaskBoard", None)), schedule_tools(cast("Timetable", None))
    handing = delegation_tools(
        cast("Children", None), cast("HandsOver", None), lambda: datetime.now(UTC)
    ) | agent_tools(cast("NewAgents", None))
    sandbox = sandbox_for(ShellSettings())
    skills = skill_tools(cast("SkillBook", None), sandbox, timeout=ShellSettings().timeout)
    git = (
        *local_tools(sandbox, timeout=ShellSettings().timeout),
        *remote_tools(Remotes(sandbox, GitWeb(egress, []))),
    )
    started = process_tools(ProcessHost(sandbox, cast("ProcessBook", None)))
    builds = build_tools(sandbox, timeout=ShellSettings().timeout, own=OwnCommands())
    flows, asking = workflow_tools(cast("Workflows", None)), query_tool([], str)
    others = (
        *flows,
        *goal_tools(cast("SetsGoals", None), no_cost)[:1],
        *peer_tools(AskedPeers({}, cast("PeerTasks", None)), (), timedelta(minutes=5))[:2],
        *watching_tools(cast("Watches", None)),
        asking,
        *git,
        *started,
        *builds,
        *browser_tools(cast("Browsers", None)),
        container_tool(Containers(ContainerTerms((), Path())), cast("Space", None)),
        wasm_tool(WasmTerms(), cast("Space", None)),
        *media_tools(Media(voice=SPOKEN_BY_NOBODY)),
        propose_tool(cast("Proposals", None), cast("ProposalUndo", None)),
        *web,
        chart,
        *_of_the_room(),
        *reports,
        *planned,
        *tasks,
    )
    return first_tools(ShellSettings()) | {tool.spec.name: tool for tool in others} | handing | skills


def _of_the_room() -> Iterator[Tool]:
    """Tools that post in rooms, and that remember and look up."""
    yield from posting_tools(cast("Posting", None), rooms=AS_STORED, named=str)
    yield from changing_tools(cast("Changing", None))
    yield from remembering_tools(cast("MemoryBook", None), cast("StateBook", None))
    yield from knowledge_tools(cast("KnowledgeBook", None))
