"""Prompts with what is true in a room: a text, its `{{ values }}`, and parts that stand there `{% if … %}`.

Nothing else of Jinja2 is read in them, no loops and no calls, so that whatever a prompt names is checked once, when it is
read, and to fill it in can neither fail nor take long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import nodes

PROMPT_MAX_CHARS: Final = 20_000
"""Of one prompt: each model call carries and pays it."""

VALUES: Final = frozenset(
    ("agent", "date", "zone", "channel", "mode", "room.name", "room.kind", "room.address", "person.name", "person.role")
)
"""Values that a prompt may name."""

MARKS: Final = ("{{", "{%", "{#")
PLAIN: Final = (
    "Template",
    "Output",
    "TemplateData",
    "Name",
    "Getattr",
    "If",
    "CondExpr",
    "Compare",
    "Operand",
    "Const",
)
LOGIC: Final = ("Not", "And", "Or")

Values = Mapping[str, Mapping[str, str] | str]


class Given(str):
    """A name that others gave: a prompt compares it as it is, and writes it in quotes."""

    __slots__ = ()


class PromptFault(ValueError):
    """Fault of a prompt, in words for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt that was checked. Equal texts are equal prompts."""

    text: str
    _filled: Callable[[Values], str] | None = field(default=None, compare=False, repr=False)

    @property
    def names_some(self) -> bool:
        """True if it names values."""
        return self._filled is not None

    def filled(self, values: Values) -> str:
        """The prompt for a room."""
        return self._filled(values).strip() if self._filled else self.text


def prompt_of(text: str) -> PromptTemplate:
    """Check a prompt, which may name `VALUES`. Errors: PromptFault.

    Jinja2 is loaded only for one that names any.
    """
    if len(text) > PROMPT_MAX_CHARS:
        raise PromptFault(f"it has {len(text):,} characters; at most {PROMPT_MAX_CHARS:,} are sent with each request")
    if not any(mark in text for mark in MARKS):
        return PromptTemplate(text.strip())
    return PromptTemplate(text.strip(), _compiled(text))


def _compiled(text: str) -> Callable[[Values], str]:
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    room = ImmutableSandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    try:
        _check(room.parse(text))
        template = room.from_string(text)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise PromptFault(f"{f'line {line}: ' if line else ''}{error.message or 'it cannot be read'}") from None
    except RecursionError:
        raise PromptFault("it can't be read: it's nested too deep") from None
    return lambda values: str(template.render(values))


def _shown(value: object) -> object:
    return f'"{value}"' if isinstance(value, Given) and value else value


def _check(tree: nodes.Template) -> None:
    """Errors: PromptFault for what is more than values and conditions, and for a value that no room has."""
    from jinja2 import nodes

    for node in tree.find_all(nodes.Node):
        if type(node).__name__ not in (*PLAIN, *LOGIC):
            raise PromptFault(
                f"line {node.lineno}: only values, such as {{{{ room.name }}}}, and {{% if … %}} are read here"
            )
    inner = {
        id(part)
        for one in tree.find_all(nodes.Getattr)
        for part in one.find_all((nodes.Getattr, nodes.Name))
        if part is not one
    }
    for named in tree.find_all((nodes.Getattr, nodes.Name)):
        if id(named) not in inner and (name := _name(named)) not in VALUES:
            near = get_close_matches(name, sorted(VALUES), 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise PromptFault(f"line {named.lineno}: there is no {name}{hint}. There are: {', '.join(sorted(VALUES))}")


def _name(node: Any) -> str:
    """The name of a value as it is written: `room.name`."""
    return node.name if hasattr(node, "name") else f"{_name(node.node)}.{node.attr}"
