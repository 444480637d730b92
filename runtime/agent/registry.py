"""Agents of this process, each with its own things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from runtime.agent.guard import GuardLimits
from runtime.context.prompt.here import Here
from runtime.context.prompt.prompts import Prompted
from runtime.context.resting import Rest
from runtime.context.window import Window
from runtime.contract import Model, ModelReply, ModelRequest, OnText, Tool
from runtime.domain.agents.manifest import Manifest
from runtime.errors import ModelFailed
from runtime.text.words import marked
from runtime.workspace.workspaces import WorkspaceFolders

if TYPE_CHECKING:
    from runtime.agent.duties.intercepting import RunInterceptors
    from runtime.agent.run_state import Maker
    from runtime.store.protocol import BackgroundTask

    Sprinting = Callable[[BackgroundTask], Maker]

Prompt = Callable[[Here], Prompted]
"""The prompt of an agent for a room, as it is at this moment."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run, and the window of its model. `guard` bounds how often it may repeat itself.

    `rest`: what a conversation begins with when somebody comes back to it after hours. `hand_overs`: how often agents hand a
    conversation on to each other without a person.
    """

    iterations: int = 25
    approval_time: timedelta = timedelta(hours=12)
    model_time: timedelta = timedelta(minutes=10)
    window: Window = field(default_factory=Window)
    guard: GuardLimits = field(default_factory=GuardLimits)
    rest: Rest = field(default_factory=Rest)
    hand_overs: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent: its own things, and the name that its sessions carry.

    `tools` may change while it works, and the next model call is told of those that are there then. `scope` is what the
    `agent` condition of a policy rule is matched with. `manifest` is what was said of it. `workspaces` hold the files of its
    sessions, and nobody else's. `sprinting` makes what speaks in the model's place in its tasks, where it works in sprints.
    `intercepting` looks in on its runs, where the settings have somebody do so.
    """

    name: str
    prompt: Prompt
    model: Model
    tools: Mapping[str, Tool]
    scope: str
    workspaces: WorkspaceFolders
    manifest: Manifest = field(default_factory=Manifest)
    limits: Limits = field(default_factory=Limits)
    sprinting: Sprinting | None = None
    intercepting: RunInterceptors | None = None


class Agents(dict[str, Agent]):
    """Agents by the name that a session carries. In place of one that is not here stands one without tools whose runs fail."""

    def __init__(self, main: Agent, *others: Agent) -> None:
        super().__init__({agent.name: agent for agent in (main, *others)})
        self.main = main
        """The one that works wherever no other is named."""

    def renew(self, main: Agent, *others: Agent) -> None:
        """Take others in place of all. A run at work keeps the agent that it holds; the next claim finds the new one."""
        self.main = main
        self.clear()
        self.update({agent.name: agent for agent in (main, *others)})

    def __missing__(self, name: str) -> Agent:
        """An agent without any of another's tools, rights or files."""
        files = self.main.workspaces.of(name)
        return replace(
            self.main,
            name=name,
            model=Missing(name),
            tools={},
            scope=name,
            workspaces=files,
            sprinting=None,
            intercepting=None,
        )


@dataclass(slots=True)
class Missing:
    """Model of an agent that is not here: it says so."""

    name: str

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        raise ModelFailed(marked("There is no longer an agent called {name} here.").format(name=self.name))
