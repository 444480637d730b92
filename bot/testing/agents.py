"""An agent for tests: a whole process of its own in the test's loop, whose model says what the test has it say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog

from bot.sdk.agent import Agent
from bot.sdk.options import check_agent
from bot.sdk.plugins import tools_of
from bot.sdk.program import Brought
from bot.settings.settings import Settings, load, load_usable
from bot.testing.scripted import Answer, Scripted
from bot.wiring.channels import MakeAdapters, no_adapters
from runtime.contract import Now, Role, Tool

TEST_SETTINGS: Final[Mapping[str, object]] = {"access.default": "allow", "model.name": "demo", "model.fallbacks": []}
"""Anybody may speak, and no vendor's key is needed: the script answers in the place of every model."""

TOO_FEW: Final = (
    "The model was asked {count} times, and the script has no answer for the last one, which ended: {last!r}"
)
LAST_WORDS_CHARS: Final = 200


class ScriptedAgent(Agent):
    """An agent whose `model` is a script; `model.requests` has what it was asked."""

    model: Scripted

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As of any agent. Errors: AssertionError where the model was asked more often than it has answers."""
        await super().__aexit__(kind, error, trace)
        if self.model.unanswered:
            raise AssertionError(TOO_FEW.format(count=len(self.model.requests), last=last_words(self.model))) from error

    @classmethod
    def of(
        cls,
        settings: Settings,
        model: Scripted,
        *,
        agent: str,
        role: Role,
        brought: Brought,
    ) -> Self:
        check_agent(agent, settings)
        made = cls(settings, agent=agent, name="test", role=role, brought=brought)
        made.model = model
        return made


def tell_plainly() -> None:
    """Logs of a test as they are by default, but errors without all values around them, which takes seconds each."""
    if not structlog.is_configured():
        *before, _ = structlog.get_config()["processors"]
        plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
        structlog.configure(processors=[*before, plain])


def last_words(model: Scripted) -> str:
    """End of the last request that the model got."""
    turns = model.requests[-1].turns
    return turns[-1].text[:LAST_WORDS_CHARS] if turns else ""


def scripted_agent(
    folder: Path,
    *answers: Answer,
    config: Path | str | None = None,
    agent: str = "",
    tools: Sequence[Tool | Callable[..., object]] = (),
    settings: Mapping[str, object] | None = None,
    adapters: MakeAdapters = no_adapters,
    now: Now | None = None,
    role: str = "operator",
) -> ScriptedAgent:
    """An agent that keeps everything in `folder`, and whose model gives `answers`, one for each request.

    `config` is a settings file, such as the one that you deploy: its agents, policy, workflows and tools count, and its accounts
    aren't served. No variable of the environment is read and no secret needed. `adapters` are chat platforms of the
    test, and `now` its clock. Errors: ConfigError.
    """
    tell_plainly()
    file, given = Path(config) if config else None, tools_of(tools)
    over = {**TEST_SETTINGS, "data_dir": str(folder / "var"), **(settings or {})}
    if given:
        named = load_usable(file, environ={}, folder=folder)[0].tools.of_programs
        over["tools.of_programs"] = [*dict.fromkeys([*named, *given])]
    chosen = load(file, over, environ={}, folder=folder, demand=())
    model = Scripted(answers)
    brought = Brought(tools=given, model=model, adapters=adapters, now=now)
    return ScriptedAgent.of(chosen.for_one_question(), model, agent=agent, role=Role[role.upper()], brought=brought)
