"""`[[interceptors]]`: programs and packages that look in on runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from bot.settings.faults import nearest
from bot.settings.sources import Layers
from runtime.contract.agents.interceptors import CLOSED_POINTS, OPENABLE_POINTS, TOOL_POINTS, Point
from runtime.settings.accounts import AccountName
from runtime.settings.types import Number, Section, Switch, Text

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

POINT_WORDS: Final = ", ".join(f"`{point}`" for point in Point)
PROGRAM_SETTINGS: Final = ("network", "sandbox")


def _as_list(value: object) -> object:
    """One point may stand for itself."""
    return (value,) if isinstance(value, str) else value


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    if not points or len(set(points)) != len(points):
        raise ValueError(f"at least one point, each once: {', '.join(Point)}")
    return points


class WhereTable(Section):
    """Bounds of an interceptor. All that are given must fit."""

    tools: tuple[Text, ...] = Field(
        default=(), description='Globs of tools, such as "shell" or "mcp_*". Without them: all.'
    )
    agents: tuple[Text, ...] = Field(default=(), description="Globs of agents' names. Without them: all.")
    rooms: tuple[Text, ...] = Field(
        default=(),
        description='Addresses or globs of rooms, with their threads, such as "slack:work/*". Without them: all.',
    )


class InterceptorTable(Section):
    """A program or a package that's asked at points of a run: [interceptors.md](interceptors.md). In the order in which they stand."""

    name: AccountName = Field(
        description="Its name, which cards and the audit log show: lowercase letters, digits and dashes."
    )
    at: Annotated[tuple[Point, ...], BeforeValidator(_as_list), AfterValidator(_some)] = Field(
        description=f"The point, or a list of points: {POINT_WORDS}."
    )
    command: tuple[Text, ...] = Field(
        default=(),
        description="Program and its arguments. It stays, reads a line of JSON for each question and answers with one. "
        "Paths are looked for beside the settings file.",
    )
    package: str = Field(
        default="",
        description="Instead of `command`: name of an interceptor that an installed package brings; it runs inside Signalbox.",
    )
    enabled: Switch = Field(default=True, description="false: it's ignored, as if it weren't here.")
    where: WhereTable = Field(default_factory=WhereTable, description="Calls, agents and rooms to which it's limited.")
    on_failure: Literal["", "allow", "deny"] = Field(
        default="",
        description='What a failure means: "deny" or "allow". Default: "deny" at `before_model`, `before_tool` and '
        '`before_show`, otherwise "allow".',
    )
    timeout_seconds: Number = Field(default=5, gt=0, le=60, description="How long it may take to answer.")
    network: Switch = Field(
        default=False, description="true: its sandbox has this machine's network, including loopback."
    )
    sandbox: Literal["auto", "external"] = Field(
        default="auto",
        description='"auto": in bubblewrap, or not at all, which is a failure; "external": without a sandbox.',
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    def is_closed_at(self, point: Point) -> bool:
        """True if a failure there is as if it had denied."""
        if point not in OPENABLE_POINTS:
            return False
        return self.on_failure == "deny" if self.on_failure else point in CLOSED_POINTS


def faults_together(layers: Layers) -> Iterator[Fault]:
    """One thing that answers; and only such bounds and settings as mean something at its points."""
    for place, table in layers.tables("interceptors"):
        given = [name for name in ("command", "package") if table.get(name)]
        if len(given) != 1:
            yield (
                f"{place}.command",
                "and package are both set; keep one" if given else "is missing; set it, or package",
            )
        if given == ["package"]:
            for name in PROGRAM_SETTINGS:
                if name in table:
                    yield f"{place}.{name}", "only goes with a command; remove it"
        yield from _point_faults(place, table)


def _point_faults(place: str, table: Any) -> Iterator[Fault]:
    at = table.get("at")
    points = [at] if isinstance(at, str) else list(at) if isinstance(at, list | tuple) else []
    for point in points:
        if isinstance(point, str) and point not in list(Point):
            near = nearest(point, list(Point))
            yield f"{place}.at", f'"{point}" is no point{f"; did you mean {near}?" if near else ""}'
            return
    known = {Point(point) for point in points if point in list(Point)}
    where = table.get("where")
    if isinstance(where, dict) and where.get("tools") and known and not known <= TOOL_POINTS:
        yield (
            f"{place}.where.tools",
            f"means nothing at {', '.join(sorted(known - TOOL_POINTS))}: no tool is called there",
        )
    if table.get("on_failure") and known and not known & OPENABLE_POINTS:
        yield f"{place}.on_failure", f"means nothing at {', '.join(sorted(known))}: nothing is stopped there"
