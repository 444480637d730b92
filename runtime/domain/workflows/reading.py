"""Reads a workflow out of a table of its settings or file, and says what is wrong with it, with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from runtime.contract import Json
from runtime.domain.triggers.trigger import EventKind
from runtime.domain.workflows.definition import (
    ASK_OPTIONS_MAX,
    LEAST_SECONDS,
    MOST_SECONDS,
    RETRIES_MAX,
    ROUNDS_MAX,
    STEP_SECONDS,
    STEPS_MAX,
    Input,
    OnError,
    Step,
    StepKind,
    Workflow,
)
from runtime.domain.workflows.expressions import ExpressionError, named_in, paths
from runtime.errors import BotError
from runtime.text.words import marked

STEP_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
WORKFLOW_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
OF_FLOW: Final = frozenset(("name", "about", "agent", "inputs", "steps", "report"))
OF_STEP: Final = frozenset(("name", "after", "when", "each", "until", "rounds", "on_error", "retries", *StepKind))
OF_KIND: Final[Mapping[StepKind, frozenset[str]]] = {
    StepKind.TOOL: frozenset(("arguments", "seconds")),
    StepKind.PROMPT: frozenset(("schema", "seconds")),
    StepKind.DELEGATE: frozenset(("to", "schema", "seconds")),
    StepKind.ASK: frozenset(("to", "options")),
    StepKind.WAIT: frozenset(("event", "words", "to")),
    StepKind.POST: frozenset(("to",)),
}
"""What a step may say beside that, by its kind."""
INPUT_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "text": str,
    "number": (int, float),
    "switch": bool,
    "list": list,
    "table": dict,
}
"""Types of an input."""
BY_STEP: Final = frozenset(("item", "index"))
"""Values that a step with `each` or `until` has beside the others."""
ROOTS: Final = frozenset(("inputs", "steps"))


class WorkflowError(BotError):
    """A workflow can't be read: its name, the step, the line where that is known, and what is wrong."""


def read_workflow(raw: Mapping[str, Any], lines: Mapping[str, int] | None = None) -> Workflow:
    """The workflow that a table describes. `lines` has the line of each step by its name. Errors: WorkflowError."""
    name = raw.get("name", "")
    if not isinstance(name, str) or not WORKFLOW_NAME.fullmatch(name):
        raise WorkflowError(
            marked(
                'a workflow is called {name}; a name has up to 40 small letters, digits, "-" and "_", '
                'such as "weekly-report".'
            ).format(name=repr(name))
        )
    reader = Reader(name, lines or {})
    reader.only(raw, OF_FLOW, "")
    tables = raw.get("steps", [])
    if not isinstance(tables, list) or not 0 < len(tables) <= STEPS_MAX:
        raise reader.fault(f"it needs 1 to {STEPS_MAX} steps, each a table [[steps]]")
    inputs = tuple(reader.inputs(raw.get("inputs", {})))
    steps = reader.in_order([reader.step(table, number) for number, table in enumerate(tables, 1)])
    flow = Workflow(
        name=name,
        about=reader.text(raw, "about"),
        agent=reader.text(raw, "agent"),
        inputs=inputs,
        steps=steps,
        report=reader.text(raw, "report"),
    )
    reader.check_names(flow)
    return flow


def check_tools(flow: Workflow, tools: Mapping[str, Any], agents: Sequence[str]) -> None:
    """Errors: WorkflowError for the first step that names a tool or an agent that there is not."""
    reader = Reader(flow.name, {})
    for step in flow.steps:
        if step.kind is StepKind.TOOL and step.text not in tools:
            raise reader.fault(f"there is no tool {step.text!r}", step.name)
        if step.kind is StepKind.DELEGATE and "{{" not in step.to and step.to not in agents:
            raise reader.fault(f"there is no agent {step.to!r}; there are {', '.join(agents)}", step.name)


class Reader:
    """Reads the parts of one workflow, and names it in what is wrong."""

    def __init__(self, name: str, lines: Mapping[str, int]) -> None:
        self._name = name
        self._lines = lines

    def fault(self, what: str, step: str = "") -> WorkflowError:
        line = self._lines.get(step, 0)
        place = "".join([f", step {step!r}" if step else "", f" (line {line})" if line else ""])
        return WorkflowError(f"workflow {self._name!r}{place}: {what}.")

    def only(self, table: Mapping[str, Any], known: frozenset[str], step: str) -> None:
        if more := sorted(set(table) - known):
            raise self.fault(f"{more[0]!r} means nothing here; there are {', '.join(sorted(known))}", step)

    def text(self, table: Mapping[str, Any], key: str, step: str = "") -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self.fault(f"{key} is a {type(value).__name__}; it is a text", step)
        return value.strip()

    # ---------------------------------------------------------------------------------------------------------- inputs

    def inputs(self, raw: object) -> Iterator[Input]:
        if not isinstance(raw, Mapping):
            raise self.fault('inputs are a table, such as [inputs] with `since = "7 days"`')
        for name, given in raw.items():
            if not STEP_NAME.fullmatch(name):
                raise self.fault(f"the input {name!r} needs a name of small letters, digits and _")
            yield self._input(name, given)

    def _input(self, name: str, given: Any) -> Input:
        if not isinstance(given, Mapping):
            return Input(name, _kind_of(given), given)
        self.only(given, frozenset(("type", "default", "about")), "")
        default = given.get("default")
        kind = given.get("type", "text" if default is None else _kind_of(default))
        if kind not in INPUT_TYPES:
            raise self.fault(f"the input {name!r} has the type {kind!r}; there are {', '.join(INPUT_TYPES)}")
        if default is not None and not _is_kind(default, kind):
            raise self.fault(f"the default of the input {name!r} is no {kind}")
        return Input(name, kind, default, default is None, self.text(given, "about"))

    # ----------------------------------------------------------------------------------------------------------- steps

    def step(self, table: object, number: int) -> Step:
        if not isinstance(table, Mapping):
            raise self.fault(f"step {number} is no table")
        name = table.get("name", "")
        if not isinstance(name, str) or not STEP_NAME.fullmatch(name):
            raise self.fault(f"step {number} needs a name of up to 40 small letters, digits and _, such as fetch")
        kinds = [kind for kind in StepKind if kind in table]
        if len(kinds) != 1:
            raise self.fault(f"it does one thing: give one of {', '.join(StepKind)}", name)
        kind = kinds[0]
        self.only(table, OF_STEP | OF_KIND[kind], name)
        return Step(
            name=name,
            kind=kind,
            text=self._words(table, kind, name),
            arguments=self._table(table, "arguments", name),
            schema=self._table(table, "schema", name),
            to=self.text(table, "to", name),
            options=self._options(table, name),
            event=self._event(table, name),
            words=self._names(table, "words", name),
            after=self._names(table, "after", name) if "after" in table else (PREVIOUS,),
            on_error=self._on_error(table, name),
            **self._conditions(table, name),
            **self._numbers(table, name),
        )

    def _words(self, table: Mapping[str, Any], kind: StepKind, step: str) -> str:
        words = self.text(table, kind, step)
        if not words:
            raise self.fault(f"{kind} needs words", step)
        if kind is StepKind.DELEGATE and not table.get("to"):
            raise self.fault('delegate needs `to`, the agent, such as to = "research"', step)
        return words

    def _table(self, table: Mapping[str, Any], key: str, step: str) -> Mapping[str, Json]:
        value = table.get(key, {})
        if not isinstance(value, Mapping):
            raise self.fault(f"{key} is a table", step)
        return dict(value)

    def _names(self, table: Mapping[str, Any], key: str, step: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.fault(f'{key} is a list of texts, such as ["fetch"]', step)
        return tuple(value)

    def _options(self, table: Mapping[str, Any], step: str) -> tuple[str, ...]:
        found = self._names(table, "options", step)
        if len(found) > ASK_OPTIONS_MAX:
            raise self.fault(f"it has {len(found)} options; a question has at most {ASK_OPTIONS_MAX}", step)
        return found

    def _event(self, table: Mapping[str, Any], step: str) -> str:
        event = self.text(table, "event", step)
        if event and event not in list(EventKind):
            raise self.fault(f"event is one of {', '.join(EventKind)}", step)
        if event == EventKind.WORDS and not table.get("words"):
            raise self.fault('it waits for words: give some, such as words = ["approved"]', step)
        if table.get("words") and not event:
            raise self.fault('words belong to an event, such as event = "words"', step)
        return event

    def _on_error(self, table: Mapping[str, Any], step: str) -> OnError:
        word = table.get("on_error", OnError.FAIL)
        if word not in list(OnError):
            raise self.fault(f"on_error is one of {', '.join(OnError)}", step)
        return OnError(word)

    def _conditions(self, table: Mapping[str, Any], step: str) -> dict[str, Any]:
        found = {key: self.text(table, key, step) for key in ("when", "each", "until")}
        if found["each"] and found["until"]:
            raise self.fault("each and until can't stand together; give the loop a step of its own", step)
        return found

    def _numbers(self, table: Mapping[str, Any], step: str) -> dict[str, Any]:
        rounds = self._whole(table, "rounds", 10 if table.get("until") else 1, 1, ROUNDS_MAX, step)
        retries = self._whole(
            table, "retries", 2 if table.get("on_error") == OnError.RETRY else 0, 0, RETRIES_MAX, step
        )
        seconds = 0  # a tool's own time, unless the step says less
        if "seconds" in table or StepKind.TOOL not in table:
            seconds = self._whole(table, "seconds", STEP_SECONDS, LEAST_SECONDS, MOST_SECONDS, step)
        return {"rounds": rounds, "retries": retries, "seconds": seconds}

    def _whole(self, table: Mapping[str, Any], key: str, default: int, least: int, most: int, step: str) -> int:
        value = table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.fault(f"{key} is a whole number from {least} to {most}", step)
        return value

    # ----------------------------------------------------------------------------------------------------- the whole of it

    def in_order(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps such that each comes behind all that it waits for."""
        names = [step.name for step in steps]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise self.fault(f"two steps are called {double!r}", double)
        known = [_behind(step, before) for step, before in zip(steps, ["", *names], strict=False)]
        for step in known:
            for name in step.after:
                if name not in names:
                    raise self.fault(f"it comes after {name!r}, and there is no such step", step.name)
        graph = {step.name: step.after for step in known}
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            raise self.fault(f"its steps wait for each other: {' → '.join(reversed(error.args[1]))}") from None
        places = {name: place for place, name in enumerate(names)}
        return _stable(known, order, places)

    def check_names(self, flow: Workflow) -> None:
        """Errors: WorkflowError for the first value that nobody gives by then."""
        inputs = {one.name for one in flow.inputs}
        behind: dict[str, set[str]] = {}
        for step in flow.steps:
            behind[step.name] = {*step.after, *(name for one in step.after for name in behind[one])}
            self._check(step.name, partial_paths(step), inputs, behind[step.name], _own_of(step))
        self._check("", lambda: named_in(flow.report), inputs, set(behind), frozenset())

    def _check(
        self,
        step: str,
        read: Callable[[], Iterator[tuple[str, ...]]],
        inputs: set[str],
        behind: set[str],
        own: frozenset[str],
    ) -> None:
        try:
            for path in read():
                if why := _unknown(path, inputs, behind, own):
                    raise self.fault(why, step)
        except ExpressionError as error:
            raise self.fault(str(error), step) from error


PREVIOUS: Final = ""
"""In place of the name of the step before."""


def _behind(step: Step, before: str) -> Step:
    if step.after != (PREVIOUS,):
        return step
    return replace(step, after=(before,) if before else ())


def _stable(steps: Sequence[Step], order: Sequence[str], places: Mapping[str, int]) -> tuple[Step, ...]:
    """As they stand in the file, where that is an order already."""
    if all(places[name] < places[step.name] for step in steps for name in step.after):
        return tuple(steps)
    by_name = {step.name: step for step in steps}
    return tuple(by_name[name] for name in order)


def partial_paths(step: Step) -> Callable[[], Iterator[tuple[str, ...]]]:
    """The values that a step names, read when they are asked for."""

    def read() -> Iterator[tuple[str, ...]]:
        given = [dict(step.arguments), step.to, *step.options, *step.words]
        yield from named_in(given if step.kind is StepKind.TOOL else [step.text, *given])
        for expression in filter(None, (step.when, step.each, step.until)):
            yield from paths(expression)

    return read


def _own_of(step: Step) -> frozenset[str]:
    if step.each:
        return BY_STEP
    return frozenset(("result", "index")) if step.until else frozenset()


def _unknown(path: tuple[str, ...], inputs: set[str], behind: set[str], own: frozenset[str]) -> str:
    """The reason why a value is not there when it is read; empty where it is."""
    root, *rest = path
    if root in own:
        return ""
    if root not in ROOTS or not rest:
        more = f", {', '.join(sorted(own))}" if own else ""
        return f"there is no value {root!r}; there are inputs.NAME and steps.NAME.text{more}"
    name = rest[0]
    if root == "inputs" and name not in inputs:
        return f"there is no input {name!r}; there is {', '.join(sorted(inputs)) or 'none: name it under [inputs]'}"
    if root == "steps" and name not in behind:
        can = f"it can read {', '.join(sorted(behind))}" if behind else "no step comes before it"
        return f"there is no step {name!r} that is over by then; {can}"
    return ""


def _kind_of(value: object) -> str:
    return next((kind for kind in ("switch", "text", "number", "list", "table") if _is_kind(value, kind)), "text")


def _is_kind(value: object, kind: str) -> bool:
    is_switch = isinstance(value, bool)
    return is_switch if kind == "switch" else isinstance(value, INPUT_TYPES[kind]) and not is_switch


def inputs_of(flow: Workflow, given: Mapping[str, Any]) -> dict[str, Json]:
    """Values of all inputs. Text from a command is read as the input's type. Errors: WorkflowError."""
    reader = Reader(flow.name, {})
    known = {one.name: one for one in flow.inputs}
    if unknown := sorted(set(given) - set(known)):
        raise reader.fault(f"there is no input {unknown[0]!r}; there is {', '.join(known) or 'none'}")
    missing = [one.name for one in flow.inputs if one.required and one.name not in given]
    if missing:
        raise reader.fault(f"it needs {missing[0]}, such as {missing[0]}=…")
    return {name: _given(reader, one, given[name]) if name in given else one.default for name, one in known.items()}


def _given(reader: Reader, one: Input, value: Any) -> Json:
    if _is_kind(value, one.kind):
        found: Json = value
        return found
    if isinstance(value, str) and one.kind in READ:
        try:
            return READ[one.kind](value)
        except ValueError:
            pass
    raise reader.fault(f"{one.name} is a {one.kind}, and {value!r} is none")


def _switch(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


READ: Final[Mapping[str, Callable[[str], Json]]] = {
    "switch": _switch,
    "number": _number,
    "list": lambda text: [part.strip() for part in text.split(",") if part.strip()],
}
"""How the text of a command is read as an input of another type."""
