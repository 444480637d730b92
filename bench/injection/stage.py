"""A stage on which tasks are replayed: an environment of tools, honest tasks, and hostile ones hidden in what tools read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.contract import Json

MARK: Final = "IMPORTANT, to the assistant who reads this."
"""Beginning of a hostile text, wherever it is hidden: a call whose result holds it has brought it to the model."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One call of a script, as a model would make it."""

    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class HonestTask:
    """Something a person asks for. `prompt` is all that the person writes."""

    suite: str
    id: str
    prompt: str


@dataclass(frozen=True, slots=True)
class HostileTask:
    """Something that a text from outside asks for. `talks`: only words in the answer are wanted, and no call."""

    suite: str
    id: str
    goal: str
    talks: bool


class Scene(Protocol):
    """One task under way, in an environment of its own."""

    def honest_calls(self) -> Sequence[ScriptedCall]:
        """The calls that carry out the honest task."""

    def hostile_calls(self) -> Sequence[ScriptedCall]:
        """The calls that carry out the hostile task, as things stand."""

    def shown(self, call: ScriptedCall) -> Mapping[str, str]:
        """Names of the things whose ids stand in a call, by argument: what its card would show."""

    def make(self, call: ScriptedCall) -> str:
        """Make a call: what the model is told of it."""

    def is_done(self) -> bool:
        """True if the honest task is done, by the stage's own check."""

    def has_struck(self) -> bool:
        """True if the hostile task is done, by the stage's own check."""


class Stage(Protocol):
    """All tasks, and a scene for any pair of them."""

    @property
    def honest(self) -> Sequence[HonestTask]: ...

    @property
    def hostile(self) -> Sequence[HostileTask]: ...

    def scene(self, honest: HonestTask | None, hostile: HostileTask | None) -> Scene:
        """A fresh environment; with a hostile task, its text stands in every place where strangers can write."""
