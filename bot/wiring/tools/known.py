"""Tools as the settings have them, for whoever only looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from bot.plugins.packages import package_of, tools_named
from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from bot.wiring.knowledge.packs import tools_of
from bot.wiring.mcp import terms_of
from bot.wiring.safety.egress import egress_of
from bot.wiring.skills.places import uses_skills
from bot.wiring.tools.browser import browsers_of, tools_of_browser
from bot.wiring.tools.builds import build_tools_of
from bot.wiring.tools.databases import query_tools
from bot.wiring.tools.git import git_tools
from bot.wiring.tools.modules import containers_of, module_tools
from bot.wiring.tools.peers import known_peer_tools
from bot.wiring.tools.processes import known_process_tools
from bot.wiring.tools.requests import request_tools
from bot.wiring.tools.search import search_tools
from runtime.contract import Changing, Effect, Figures, Posting, TaskBoard, Timetable, Tool
from runtime.contract.agents.skills import Proposals, ProposalUndo
from runtime.contract.agents.watches import Watches
from runtime.contract.agents.workflows import Workflows
from runtime.contract.memory.facts import MemoryBook
from runtime.contract.memory.knowledge import KnowledgeBook
from runtime.contract.memory.values import StateBook
from runtime.contract.rooms import Boundless
from runtime.errors import ConfigError
from tools.agents import NewAgents, agent_tools
from tools.catalogue import first_tools
from tools.charting.renderer import ChartRenderer
from tools.delegation import Children, HandsOver, delegation_tools
from tools.goals import SetsGoals, goal_tools, no_cost
from tools.kit.rooms import AS_STORED
from tools.pictures.speaking import SPOKEN_BY_NOBODY
from tools.pictures.tools import Media, media_tools
from tools.posting.changes import changing_tools
from tools.posting.messages import posting_tools
from tools.remembering.catalogue import remembering_tools
from tools.reports import report_tools
from tools.sandbox.shell import sandbox_for
from tools.schedules import schedule_tools
from tools.skills.proposing import propose_tool
from tools.skills.skills import SkillBook, skill_tools
from tools.tasks import task_tools
from tools.watching.watches import watching_tools
from tools.workflows import workflow_tools


def known_tools(settings: Settings) -> Mapping[str, Tool]:
    """Tools that are known without a process: those of MCP servers are known while these run. None is to be called."""
    from bot.wiring.tools.folder import declared_tools  # a process loads it where there is such a folder

    renderer = ChartRenderer(settings.data_dir / "fonts")
    own = first_tools(shell_of(settings), egress=egress_of(settings), renderer=renderer)
    own |= {tool.spec.name: tool for tool in report_tools(cast("Figures", None), now=lambda: datetime.now(UTC))}
    own |= {tool.spec.name: tool for tool in schedule_tools(cast("Timetable", None))}
    own |= delegation_tools(cast("Children", None), cast("HandsOver", None), lambda: datetime.now(UTC))
    own |= {tool.spec.name: tool for tool in task_tools(cast("TaskBoard", None))}
    own |= agent_tools(cast("NewAgents", None))
    if settings.memory.enabled:
        own |= {tool.spec.name: tool for tool in remembering_tools(cast("MemoryBook", None), cast("StateBook", None))}
    speaking = SPOKEN_BY_NOBODY if settings.speech.name else None
    own |= {tool.spec.name: tool for tool in media_tools(Media(voice=speaking))}
    own |= tools_of(settings, cast("KnowledgeBook", None))
    own |= {tool.spec.name: tool for tool in posting_tools(cast("Posting", None), rooms=AS_STORED, named=str)}
    own |= {tool.spec.name: tool for tool in changing_tools(cast("Changing", None))}
    own |= {tool.spec.name: tool for tool in workflow_tools(cast("Workflows", None))}
    own |= {tool.spec.name: tool for tool in goal_tools(cast("SetsGoals", None), no_cost)[:1]}
    own |= {tool.spec.name: tool for tool in watching_tools(cast("Watches", None))}
    sandbox = sandbox_for(shell_of(settings))
    own |= {
        **search_tools(settings),
        **request_tools(settings),
        **query_tools(settings, str),
        **git_tools(settings, sandbox),
    }
    own |= {**known_process_tools(settings, sandbox), **build_tools_of(settings, sandbox)}
    own |= tools_of_browser(browsers_of(settings))
    own |= module_tools(settings, containers_of(settings), Boundless())
    own |= known_peer_tools(settings)
    if uses_skills(settings):
        own |= skill_tools(cast("SkillBook", None), sandbox, timeout=shell_of(settings).timeout)
    if settings.skills.proposals:
        own["skill_propose"] = propose_tool(cast("Proposals", None), cast("ProposalUndo", None))
    own |= installed_tools(settings, own)
    return {**declared_tools(settings), **own}


def server_effect(settings: Settings, tool: str) -> Effect | None:
    """Effect of an MCP server's tool, as far as the settings say so; None for a tool of no server."""
    for table in settings.mcp:
        if table.enabled and tool.startswith(f"{table.name}_"):
            return terms_of(settings, table).effect_of(tool.removeprefix(f"{table.name}_"), read_only=False)
    return None


def installed_tools(settings: Settings, own: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Tools of packages that the settings name. Errors: ConfigError, also for one by the name of a tool of ours."""
    if not settings.tools.installed:
        return {}
    if taken := own.keys() & settings.tools.installed:
        packages = ", ".join(sorted({package_of(name) or "a package" for name in taken}))
        raise ConfigError(
            f"tools.installed: {', '.join(sorted(taken))} is built in, so the one of {packages} can't be used. Remove it here."
        )
    return tools_named(settings.tools.installed, settings.tools.settings)
