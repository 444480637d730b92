"""The decorator that makes a typed function a Tool.

    @tool(effect=Effect.READ)
    async def weather(city: Annotated[str, "City and country."], context: ToolContext) -> str:
        \"\"\"The weather now.\"\"\"

Name, description and schema come from the function itself, so that they cannot disagree with it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from runtime.contract import UNDECLARED, Card, Effect, Flow, Json, ToolContext, ToolSpec, Undo
from runtime.errors import ToolRetry
from tools.kit.parameters import Parameter, Schema, faults, parameters_of

Function = Callable[..., str] | Callable[..., Awaitable[str]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A Tool made of a function. `context_name` is the parameter that takes the ToolContext, if there is one."""

    spec: ToolSpec
    function: Function
    parameters: tuple[Parameter, ...]
    context_name: str | None
    warning: str

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        """Run the function; a plain one in a thread, where a cancelled call still ends what it began."""
        self.check(arguments)
        given = {p.name: p.adapter.validate_python(arguments[p.name]) for p in self.parameters if p.name in arguments}
        if self.context_name is not None:
            given[self.context_name] = context
        if inspect.iscoroutinefunction(self.function):
            return str(await self.function(**given))
        return str(await asyncio.to_thread(self.function, **given))

    def check(self, arguments: Mapping[str, Json]) -> None:
        """Errors: ToolRetry for arguments that do not fit."""
        if wrong := list(faults(self.parameters, arguments)):
            raise ToolRetry(f"{self.spec.name} was not called. {' '.join(wrong)}")

    def caution(self) -> str:
        return self.warning


def tool(
    *,
    effect: Effect = Effect.DANGER,
    idempotent: bool = False,
    timeout: timedelta = timedelta(seconds=60),
    output_bound: int = 50_000,
    caution: str = "",
    card: Card | None = None,
    undo: Undo | None = None,
    polls: bool = False,
    seldom: bool = False,
    flow: Flow = UNDECLARED,
) -> Callable[[Function], FunctionTool]:
    """Make the decorated function a Tool. Without an `effect` it may change anything. `output_bound` counts characters; `caution` is shown on approval cards, and `card`
    says in which parts a call is shown there: it gets the arguments and a CardContext. With `undo` a call that was approved
    can be taken back for a while. `polls`: the same call is meant to be made until something is ready. `seldom`: models find
    it by `find_tools`. `flow` says whose words its results are, and where its calls go: without it both may be anything.

    Errors: TypeError for a function without a docstring or with parameters no model could give.
    """

    def declare(function: Function) -> FunctionTool:
        parameters, context_name = parameters_of(function)
        spec = ToolSpec(
            name=function.__name__,
            description=_first_paragraph(function),
            schema=Schema(parameters),
            effect=effect,
            idempotent=idempotent,
            timeout=timeout,
            output_bound=output_bound,
            card=card,
            undo=undo,
            polls=polls,
            seldom=seldom,
            flow=flow,
        )
        return FunctionTool(spec, function, parameters, context_name, caution)

    return declare


def _first_paragraph(function: Function) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise TypeError(f"{function.__qualname__} needs a docstring: it is what the model reads")
    return " ".join(text.split("\n\n")[0].split())
