"""The sandbox in which a template is rendered. Lives in a process of its own: see `renderer`.

Jinja2's own sandbox forbids what is known to be dangerous; here the other way round only what is listed is there: a few
methods of texts, mappings and times, some of its filters and ours. Every value that is put out is escaped by `marks`.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final
from zoneinfo import ZoneInfo

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, nodes, pass_eval_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.filters import FILTERS
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Namespace
from markupsafe import Markup

from runtime.templating.filters import in_zone, joined, moment
from runtime.templating.marks import shown
from runtime.templating.order import RENDERED_MAX_CHARS, REST_WAS_CUT, Order, Piece

THEIRS: Final = (
    *("abs", "batch", "capitalize", "count", "d", "default", "dictsort", "first", "float", "groupby", "int", "items"),
    *("last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round"),
    *("select", "selectattr", "sort", "string", "sum", "title", "trim", "truncate", "unique", "upper", "wordcount"),
)
"""Filters of Jinja2 that are here: they change values, not what values look like."""
METHODS: Final[Mapping[type, frozenset[str]]] = {
    kind: frozenset(names.split())
    for kind, names in {
        dict: "items keys values get",
        str: "upper lower title capitalize strip lstrip rstrip split splitlines partition startswith endswith replace "
        "removeprefix removesuffix find count isdigit",
        datetime: "year month day hour minute second weekday isoweekday date timestamp isoformat strftime",
        LoopContext: "index index0 revindex revindex0 first last length previtem nextitem depth cycle changed",
    }.items()
}
"""What of its own each kind of value has in a template."""
TEMPLATE: Final = "<template>"
"""What Jinja2 calls the file of a template that is none."""


class Generator(CodeGenerator):
    """`~` of Markdown and a value escapes the value our way; Jinja2's own would do it for HTML."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja2 calls it so
        self.write("environment.concatenated((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


@dataclass(repr=False)
class Result:
    """Result of a call, beside its value: `data.NAME` in a template. `looked` once it asked whether it failed."""

    piece: Piece
    looked: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        raise TemplateRuntimeError("a result can't be put out as a whole; add .text, .error or .tool")

    def __repr__(self) -> str:
        return "(a result)"

    @property
    def failed(self) -> bool:
        self.looked.add("failed")
        return self.piece.failed

    @property
    def error(self) -> str:
        self.looked.add("failed")
        return self.piece.text if self.piece.failed else ""

    @property
    def text(self) -> str:
        return self.piece.text

    @property
    def changed(self) -> bool:
        return self.piece.changed

    @property
    def had_failed(self) -> bool:
        return self.piece.had_failed

    @property
    def tool(self) -> str:
        return self.piece.tool

    @property
    def is_handled(self) -> bool:
        return not self.piece.failed or bool(self.looked)


class Function:
    """A function or method as templates have it: they may call it, and putting it out is a fault in words."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._function(*given, **named)

    def __str__(self) -> str:
        raise TemplateRuntimeError(f"{self._name} is a function; write {self._name}() to call it")

    def __repr__(self) -> str:
        return f"{self._name}()"


def listed(given: Callable[..., Any]) -> Callable[..., Any]:
    """A filter of Jinja2 that makes a list where it would make a generator, which says nothing when it is put out."""

    @wraps(given)
    def whole(*values: Any, **named: Any) -> Any:
        made = given(*values, **named)
        return [*made] if isinstance(made, Iterator) else made

    return whole


class Sandbox(ImmutableSandboxedEnvironment):
    """`zone` is where its times are shown."""

    code_generator_class = Generator
    intercepted_binops = frozenset(("+", "%"))

    def __init__(self, order: Order) -> None:
        self.zone = zone = ZoneInfo(order.zone)

        @pass_eval_context
        def finalize(_: object, value: Any) -> Any:
            return value if isinstance(value, Undefined) else shown(value, zone)

        super().__init__(
            autoescape=True, finalize=finalize, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self.filters = {name: listed(FILTERS[name]) for name in THEIRS} | dict(in_zone(zone, moment(order.now)))
        self.globals = {"range": Function("range", safe_range), "namespace": Function("namespace", Namespace)}

    def concatenated(self, parts: Iterable[Any]) -> Any:
        return joined(parts, "", zone=self.zone)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "+" and (isinstance(left, Markup) or isinstance(right, Markup)):
            return self.concatenated((left, right))
        if operator == "%" and isinstance(left, str):
            raise SecurityError("% doesn't format text here; use ~ to join")
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return self._allowed(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            return obj[argument]  # says what is undefined
        if isinstance(obj, dict | list | tuple | str):
            try:
                return obj[argument]
            except (TypeError, LookupError):
                pass
        return self._allowed(obj, argument) if isinstance(argument, str) else self.undefined(obj=obj, name=argument)

    def _allowed(self, obj: Any, name: str) -> Any:
        if isinstance(obj, Undefined):
            return str(obj)  # says what is undefined
        if isinstance(obj, Namespace | Result | Named) and not name.startswith("_"):
            try:
                return obj[name] if isinstance(obj, Named) else getattr(obj, name)
            except (AttributeError, LookupError):
                return self.undefined(obj=obj, name=name)
        if any(isinstance(obj, kind) and name in names for kind, names in METHODS.items()):
            found = getattr(obj, name)
            return Function(name, found) if callable(found) else found
        return self.undefined(obj=obj, name=name)


class Named(Mapping[str, Result]):
    """Results by name, and nothing else: `data` and `charts` in a template."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> Result:
        return self._results[name]

    def __iter__(self) -> Any:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __str__(self) -> str:
        raise TemplateRuntimeError("results can't be put out together; name one of them")

    def __repr__(self) -> str:
        return "(results)"


class Failed(StrictUndefined):
    """The value of a call that failed: whatever is done with it says so, but to ask whether it is defined."""


@dataclass
class Fault(Exception):
    """Fault of a template, and its place."""

    what: str
    line: int = 0
    place: str = ""


# ---------------------------------------------------------------------------------------------------------- rendering


def answered(order: Order) -> dict[str, Any]:
    """Answer of the process: a text, values, or an error."""
    try:
        if order.only_check:
            check(order)
            return {"text": ""}
        return {"values": values(order)} if order.expressions else {"text": rendered(order)}
    except Fault as fault:
        return {"error": fault.what, "line": fault.line + order.above if fault.line else 0, "place": fault.place}


def rendered(order: Order) -> str:
    sandbox, known = Sandbox(order), variables(order)
    text = ""
    try:
        for piece in sandbox.from_string(order.body).generate(known):
            text += str(piece)  # two Markups put together would escape the template's own words for HTML
            if len(text) > RENDERED_MAX_CHARS:
                return text[: RENDERED_MAX_CHARS - len(REST_WAS_CUT)] + REST_WAS_CUT
    except MemoryError:
        raise
    except Exception as error:
        raise fault_of(error, order, known) from error
    unseen = [name for name, result in known["data"].items() if not result.is_handled]
    if unseen:
        raise Fault(failure(unseen[0], order.data[unseen[0]]))
    return text


def check(order: Order) -> None:
    """Read a template without its data. Errors: Fault for what is none, and for a name that nothing will have."""
    sandbox, known = Sandbox(order), variables(order)
    try:
        tree = sandbox.parse(order.body)
        sandbox.compile(order.body)
        for expression in order.expressions.values():
            sandbox.compile_expression(" ".join(expression.split()))
    except MemoryError:
        raise
    except Exception as error:
        raise fault_of(error, order, known) from error
    unknown = find_undeclared_variables(tree) - known.keys() - made_in(tree)
    for name in tree.find_all(nodes.Name):
        if name.name in unknown:
            raise Fault(_undefined(f"{name.name!r} is undefined", known), name.lineno)


def made_in(tree: nodes.Template) -> set[str]:
    """Names that the template gives itself, be it in a branch that may not be taken."""
    given = {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"}
    return given | {macro.name for macro in tree.find_all(nodes.Macro)}


def values(order: Order) -> dict[str, Any]:
    sandbox, known, found = Sandbox(order), variables(order), {}
    for name, expression in order.expressions.items():
        try:
            value = sandbox.compile_expression(" ".join(expression.split()), undefined_to_none=False)(known)
            found[name] = json.loads(json.dumps(value, default=_plain))
        except MemoryError:
            raise
        except Exception as error:
            fault = fault_of(error, order, known)
            raise Fault(fault.what, place=f"chart {name}") from error
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Undefined):
        str(value)  # says what is undefined
    return list(value)


def variables(order: Order) -> dict[str, Any]:
    """Variables that a template can read."""
    data = {name: Result(piece) for name, piece in order.data.items()}

    def changed(name: str) -> bool:
        if name not in data:
            raise ValueError(f"changed: there is no data {name!r}; there is {', '.join(data) or 'none'}")
        return data[name].changed

    return {
        **{name: value_of(name, piece) for name, piece in order.data.items()},
        "data": Named(data),
        "charts": Named({name: Result(piece) for name, piece in order.charts.items()}),
        "options": dict(order.options),
        "name": order.name,
        "now": moment(order.now),
        "planned_at": moment(order.planned_at),
        "previous": order.previous,
        "previous_at": moment(order.previous_at) if order.previous_at else None,
        "zone": order.zone,
        "quiet": order.quiet,
        "changed": Function("changed", changed),
    }


def value_of(name: str, piece: Piece) -> Any:
    """Value of what a call told: read as JSON where it is that, else as text."""
    if piece.failed:
        return Failed(hint=failure(name, piece))
    try:
        return json.loads(piece.text)
    except (ValueError, RecursionError):
        return piece.text


def failure(name: str, piece: Piece) -> str:
    return f"its data {name!r} couldn't be fetched: {piece.tool}: {piece.text}"


# -------------------------------------------------------------------------------------------------------------- faults


def fault_of(error: Exception, order: Order, known: Mapping[str, Any]) -> Fault:
    """In words for whoever wrote the template."""
    match error:
        case TemplateSyntaxError():
            return Fault(error.message or "it isn't a template", error.lineno)
        case UndefinedError():
            return Fault(_undefined(str(error), known), line_of(error))
        case RecursionError():
            return Fault("it calls itself endlessly", line_of(error))
        case TemplateError() | ValueError() | ZeroDivisionError() | OverflowError():
            return Fault(str(error), line_of(error))
        case TypeError() if "loader" in str(error):
            return Fault("a template can't include, import or extend another one", line_of(error))
        case _:
            return Fault(f"{str(error) or 'it cannot be done'} ({type(error).__name__})", line_of(error))


def _undefined(message: str, known: Mapping[str, Any]) -> str:
    name, is_plain, _ = message.removeprefix("'").partition("' is undefined")
    if not is_plain:
        return message
    near = get_close_matches(name, known, n=1)
    return f"{message}; did you mean {near[0]!r}?" if near else f"{message}; there are {', '.join(sorted(known))}"


def line_of(error: BaseException) -> int:
    """The line of the template at which it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == TEMPLATE), 0)
