"""Rules of some settings, asked as the agent asks them. Nothing is called and no process runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from bot.sdk.plugins import tools_of
from bot.settings.faults import nearest
from bot.settings.settings import Settings, load
from bot.wiring.tools.known import known_tools, server_effect
from bot.wiring.tools.outcomes import explained_call
from runtime.contract import Effect, Json, Tool
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ConfigError
from runtime.policy.explanation import Explanation
from runtime.policy.rules import Ask

POLICY_ROOM: Final = "web:main/room"
NO_SUCH_TOOL: Final = (
    "There is no tool {tool!r} in these settings. {hint}Name those of your own: Policies.of_file(…, tools=[…])."
)


class Policies:
    """The rules of one settings file."""

    def __init__(self, settings: Settings, tools: Iterable[Tool | Callable[..., object]] = ()) -> None:
        self.settings = settings
        self._own = tools_of(tools)

    @classmethod
    def of_file(cls, path: Path | str, *, tools: Iterable[Tool | Callable[..., object]] = ()) -> Self:
        """Rules of a settings file; its secrets need not be there. `tools` are those that a program brings. Errors: ConfigError."""
        given = [*tools]
        more = {"tools.of_programs": [*tools_of(given)]} if given else {}
        return cls(load(Path(path), more, environ={}, demand=()), given)

    @classmethod
    def of_text(cls, text: str, *, tools: Iterable[Tool | Callable[..., object]] = ()) -> Self:
        """Rules of settings as text; details as of `of_file`."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "signalbox.toml"
            file.write_text(text, encoding="utf-8")
            return cls.of_file(file, tools=tools)

    def ruling(self, tool: str, **arguments: Json) -> str:
        """`allow`, `ask`, `deny` or `veto`, for a call with these arguments. Where, for whom and more: `explain`."""
        return self.explain(tool, arguments).ruling.value

    def explain(
        self,
        tool: str,
        arguments: dict[str, Json] | None = None,
        *,
        effect: Effect | str = "",
        agent: str = MAIN,
        room: str = POLICY_ROOM,
        people: Collection[str] = (),
        mode: str = "normal",
    ) -> Explanation:
        """The ruling with its rule and reason: `.ruling`, `.why`. `people` are names and identities of whoever asks.

        Errors: ConfigError for a tool that nobody knows, unless its effect is said.
        """
        ask = Ask(tool, self._effect(tool, effect), arguments or {}, agent, room, frozenset(people))
        return explained_call(self.settings, ask, mode)

    def _effect(self, tool: str, said: Effect | str) -> Effect:
        if said:
            return Effect(said)
        known = {**known_tools(self.settings), **self._own}
        if found := known[tool].spec.effect if tool in known else server_effect(self.settings, tool):
            return found
        near = nearest(tool, known)
        raise ConfigError(NO_SUCH_TOOL.format(tool=tool, hint=f"Did you mean {near}? " if near else ""))
