"""Expressions of workflows: values by name, compared and joined. There are no loops and no calls but a few of ours, so one
ends soon, whatever it says, and reaches nothing but the values that it is given.

    steps.fetch.value.total > 10 and inputs.loud
    len(steps.files.value) - 1
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from runtime.contract import Json
from runtime.errors import BotError
from runtime.text.words import marked

EXPRESSION_MAX_CHARS: Final = 1_000
NODES_MAX: Final = 200
"""Parts of one expression."""
TEXT_MAX_CHARS: Final = 200_000
"""Characters of a text that values were put into."""
HOLE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
LITERALS: Final[Mapping[str, Json]] = {"true": True, "false": False, "none": None}
"""As TOML and JSON write them."""


class ExpressionError(BotError):
    """An expression is none, or its values are not such as it needs: what is wrong, in words without a full stop."""


def value_of(expression: str, values: Mapping[str, Any]) -> Json:
    """The value of an expression.

    >>> value_of(
    ...     "steps.a.value.n > 2 and not inputs.dry", {"steps": {"a": {"value": {"n": 3}}}, "inputs": {"dry": False}}
    ... )
    True
    """
    try:
        return _value(parsed(expression), values)
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise ExpressionError(
            marked("`{expression}` can't be worked out: {error}").format(expression=expression.strip(), error=error)
        ) from error


def filled(given: Json, values: Mapping[str, Any]) -> Json:
    """`given` with a value in place of each `{{ … }}`, also in lists and tables. One that stands alone keeps its type.

    >>> filled({"n": "{{ inputs.n }}", "t": "at most {{ inputs.n }}"}, {"inputs": {"n": 3}})
    {'n': 3, 't': 'at most 3'}
    """
    if isinstance(given, Mapping):
        return {key: filled(value, values) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [filled(value, values) for value in given]
    if not isinstance(given, str):
        return given
    whole = HOLE.fullmatch(given.strip())
    if whole and "{{" not in whole[1]:
        return value_of(whole[1], values)
    return text_of(given, values)


def text_of(given: str, values: Mapping[str, Any]) -> str:
    """`given` with each `{{ … }}` as text. Errors: ExpressionError, also for one that becomes too long."""
    made = HOLE.sub(lambda hole: shown(value_of(hole[1], values)), given)
    if len(made) > TEXT_MAX_CHARS:
        raise ExpressionError(
            marked("with its values it has {number} characters; at most {most} are taken").format(
                number=f"{len(made):,}", most=f"{TEXT_MAX_CHARS:,}"
            )
        )
    return made


def shown(value: Json) -> str:
    """A value in a text: lists and tables as JSON, nothing for none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def named_in(given: Json) -> Iterator[tuple[str, ...]]:
    """Paths of the values that a text, a list or a table names in its `{{ … }}`, such as ("steps", "fetch")."""
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, list | tuple):
        for value in given:
            yield from named_in(value)
    elif isinstance(given, str):
        for hole in HOLE.finditer(given):
            yield from paths(hole[1])


def paths(expression: str) -> Iterator[tuple[str, ...]]:
    """Paths of names in an expression: the first two parts of each.

    >>> sorted(paths("steps.a.value[0] == item or inputs.x"))
    [('inputs', 'x'), ('item',), ('steps', 'a')]
    """
    inner: set[ast.AST] = set()
    for node in ast.walk(parsed(expression)):  # outer nodes come first
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            inner.add(node.value)
            yield node.value.id, node.attr
        elif isinstance(node, ast.Call):
            inner.add(node.func)
        elif isinstance(node, ast.Name) and node not in inner and node.id not in LITERALS:
            yield (node.id,)


@lru_cache(maxsize=500)
def parsed(expression: str) -> ast.expr:
    """The tree of an expression of which all parts are known ones. Errors: ExpressionError.

    It may stand in `{{ … }}`, as values in a text do.
    """
    text = " ".join(expression.split())
    if (whole := HOLE.fullmatch(text)) and "{{" not in whole[1]:
        text = whole[1].strip()
    if not text or len(text) > EXPRESSION_MAX_CHARS:
        raise ExpressionError(
            marked("an expression has 1 to {most} characters").format(most=f"{EXPRESSION_MAX_CHARS:,}")
        )
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = error.msg if isinstance(error, SyntaxError) else "it is too deep"
        raise ExpressionError(marked("`{text}` is no expression: {what}").format(text=text, what=what)) from error
    nodes = list(ast.walk(tree))
    if len(nodes) > NODES_MAX:
        raise ExpressionError(
            marked("`{text}…` has too many parts; at most {most} are read").format(text=text[:60], most=NODES_MAX)
        )
    for node in nodes:
        _check(node, text)
    return tree


# ------------------------------------------------------------------------------------------------------- what is known

COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: lambda one, other: bool(one == other),
    ast.NotEq: lambda one, other: bool(one != other),
    ast.Lt: lambda one, other: bool(one < other),
    ast.LtE: lambda one, other: bool(one <= other),
    ast.Gt: lambda one, other: bool(one > other),
    ast.GtE: lambda one, other: bool(one >= other),
    ast.In: lambda one, other: bool(one in other),
    ast.NotIn: lambda one, other: bool(one not in other),
}
SUMS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
}
FUNCTIONS: Final[Mapping[str, Callable[[Any], Json]]] = {
    "len": len,
    "text": shown,
    "number": lambda value: float(value) if "." in str(value) else int(value),
    "lower": lambda value: str(value).lower(),
    "upper": lambda value: str(value).upper(),
    "strip": lambda value: str(value).strip(),
    "lines": lambda value: str(value).splitlines(),
    "json": lambda value: json.loads(str(value)),
}
"""With one value each."""
KNOWN: Final = (
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.IfExp, ast.Constant, ast.Name),
    *(ast.Load, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.BinOp, ast.Call, *COMPARISONS, *SUMS),
)


def _check(node: ast.AST, text: str) -> None:
    if isinstance(node, ast.Set | ast.Dict):
        raise ExpressionError(
            marked("`{text}`: a condition is one expression, without {{{{ }}}} around its parts").format(text=text)
        )
    if not isinstance(node, KNOWN):
        raise ExpressionError(
            marked("`{text}`: {name} is nothing that expressions here have").format(text=text, name=type(node).__name__)
        )
    if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float | bool | None):
        raise ExpressionError(
            marked("`{text}`: {value} is no text or number").format(text=text, value=repr(node.value))
        )
    if isinstance(node, ast.Call) and not _is_ours(node):
        raise ExpressionError(
            marked("`{text}`: there are the functions {functions}, each with one value").format(
                text=text, functions=", ".join(FUNCTIONS)
            )
        )


def _is_ours(node: ast.Call) -> bool:
    named = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
    return named and len(node.args) == 1 and not node.keywords


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return LITERALS[node.id] if node.id in LITERALS else _part(values, node.id)
        case ast.Attribute():
            return _part(_value(node.value, values), node.attr)
        case ast.Subscript():
            return _part(_value(node.value, values), _value(node.slice, values))
        case ast.List() | ast.Tuple():
            return [_value(one, values) for one in node.elts]
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](_value(argument, values))
        case _:
            return _worked_out(node, values)


def _worked_out(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of what joins others."""
    match node:
        case ast.BoolOp():
            return _joined(node, values)
        case ast.UnaryOp():
            value = _value(node.operand, values)
            return not value if isinstance(node.op, ast.Not) else -_number(value)
        case ast.BinOp():
            return SUMS[type(node.op)](_number(_value(node.left, values)), _number(_value(node.right, values)))
        case ast.IfExp():
            return _value(node.body if _value(node.test, values) else node.orelse, values)
        case ast.Compare():
            return _compared(node, values)
        case _:
            raise TypeError(f"{type(node).__name__} is nothing that expressions here have")


def _joined(node: ast.BoolOp, values: Mapping[str, Any]) -> Any:
    ends = bool if isinstance(node.op, ast.Or) else lambda value: not value
    found = None
    for one in node.values:
        found = _value(one, values)
        if ends(found):
            return found
    return found


def _compared(node: ast.Compare, values: Mapping[str, Any]) -> bool:
    left = _value(node.left, values)
    for operator, other in zip(node.ops, node.comparators, strict=True):
        right = _value(other, values)
        if not COMPARISONS[type(operator)](left, right):
            return False
        left = right
    return True


def _part(whole: Any, name: Any) -> Any:
    """A part of a table, by its name, or of a list or text, by its place."""
    if isinstance(whole, Mapping):
        if name in whole:
            return whole[name]
        raise LookupError(f"there is no {name!r}; there is {', '.join(map(str, list(whole)[:10])) or 'nothing'}")
    if isinstance(whole, list | tuple | str) and isinstance(name, int) and not isinstance(name, bool):
        if -len(whole) <= name < len(whole):
            return whole[name]
        raise LookupError(f"there is no {name}; there are {len(whole)}")
    raise TypeError(f"{shown(whole)[:40]!r} has no part {name!r}")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{shown(value)[:40]!r} is no number; number(…) makes one of a text")
    return value
