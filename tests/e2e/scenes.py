"""A model on the wire that plays scenes: each is a generator of calls that is sent what they gave."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.testing.openai.server import Json, Reply, ToolCall

Asked = tuple[str, dict[str, Any]]
Scene = Generator[list[Asked], list[str], None]
"""Gives the calls of one reply, and is sent their results in that order."""

SLOWLY: Final = "Take your time."
"""A piece of work that isn't done before somebody stops it."""
SLOW_SECONDS: Final = 30


@dataclass
class Player:
    """Plays the scene that somebody asks for by `scene NAME`. `told` are all results by tool."""

    scenes: Mapping[str, Callable[[], Scene]]
    told: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _playing: dict[str, Scene] = field(default_factory=dict)
    _asked: dict[str, dict[str, str]] = field(default_factory=dict)
    """The calls of each scene's last reply: tools by the id of their call."""
    _calls: int = 0

    def __call__(self, request: Json) -> Reply:
        said = [str(one["content"]) for one in request["messages"] if one["role"] == "user"]
        found = next((known for text in reversed(said) if (known := re.search(r"scene (\w+)", text))), None)
        if found:
            return self._played(found[1], request)
        return Reply("That piece is done.", delay=SLOW_SECONDS if SLOWLY in said[-1] else 0)

    def _played(self, name: str, request: Json) -> Reply:
        is_first = name not in self._playing
        scene = self._playing.setdefault(name, self.scenes[name]())
        try:
            asked = next(scene) if is_first else scene.send(self._results(name, request))
        except StopIteration:
            return Reply(over(name))
        self._asked[name] = {f"call_{self._calls + number}": tool for number, (tool, _) in enumerate(asked)}
        self._calls += len(asked)
        calls = zip(self._asked[name], asked, strict=True)
        return Reply("", tuple(ToolCall(tool, json.dumps(given), id) for id, (tool, given) in calls), "tool_calls")

    def _results(self, name: str, request: Json) -> list[str]:
        gave = {one["tool_call_id"]: str(one["content"]) for one in request["messages"] if one["role"] == "tool"}
        results = [gave[id] for id in self._asked[name]]
        for tool, result in zip(self._asked[name].values(), results, strict=True):
            self.told[tool].append(result)
        return results


def over(name: str) -> str:
    """The reply that ends a scene."""
    return f"The scene {name} is over."


def use(tool: str, **given: Any) -> Asked:
    """One call."""
    return tool, given


def named(pattern: str, text: str) -> str:
    """The name that a result holds, for the next call."""
    found = re.search(pattern, text)
    assert found is not None, f"{pattern} is not in {text}"
    return found[1]
