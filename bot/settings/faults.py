"""Faults of settings as sentences: which setting, what was given, what is expected, how to mend it. All at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from bot.plugins.channels import known_channels
from runtime.errors import ConfigError
from runtime.guard.masks import HIDDEN

if TYPE_CHECKING:
    from bot.settings.sources import Layers

MASK: Final = HIDDEN
_SECRET: Final = re.compile(
    r"token|secret|passw|passphrase|api_?key|key\b|database_(listen_)?url|credential|headers", re.IGNORECASE
)
_NO_SECRET: Final = (
    *("_env", "_envs", "_file", "secrets.file", "secrets.folder"),  # these only say where one is kept
    *("guard.secrets", "rooms.secrets", "].secrets"),  # how strict the leak guard is
)

# What a setting wants, by the name that pydantic gives to the fault.
_WANTED: Final[Mapping[str, str]] = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that is not infinite",
    "string_type": "text in quotes",
    "string_too_short": "text that is not empty",
    "string_pattern_mismatch": 'an identity such as "telegram:1001"',
    "path_type": "a path in quotes",
    "tuple_type": 'a list such as ["…", "…"]',
    "list_type": 'a list such as ["…", "…"]',
    "dict_type": "a table",
    "model_type": "a table",
}
_BOUNDS: Final[Mapping[str, str]] = {
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
}


@lru_cache(1024)
def is_secret(name: str) -> bool:
    """True if a value under this name must never be shown. Names of variables and files (`…_env`, `…_file`) may be."""
    return bool(_SECRET.search(name)) and not name.lower().endswith(_NO_SECRET)


def nearest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)


FOLLOWS_A_FAULT: Final = "default_factory_not_called"
"""Pydantic's word on a setting that nobody gave, whose default is made of others that are wrong."""


class Faults:
    """Collects faults, so that a person mends all of them in one go."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._lines: list[str] = []
        self._left_out: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, name: str, fault: str) -> None:
        self._lines.append(f"{name}: {fault}{'' if fault.endswith('?') else '.'}")

    def add_sentence(self, sentence: str) -> None:
        """As it stands: it may end with a command to copy."""
        self._lines.append(sentence)

    def add_unknown(self, name: str, near: str | None, source: str = "") -> None:
        fix = f"did you mean {near}?" if near else "remove it; docs/settings.md lists the settings."
        self._lines.append(f"{name}: there is no such setting{_from(source)}; {fix}")

    def add_invalid(self, error: ValidationError, layers: Layers) -> None:
        """Each fault that pydantic found, one for each setting: of a union, the first that says something."""
        seen: set[str] = set()
        for detail in error.errors(include_url=False, include_context=True, include_input=True):
            name = _dotted(_place(detail))
            if name not in seen and detail["type"] != FOLLOWS_A_FAULT:
                seen.add(name)
                self._add_detail(name, layers.title(name), detail, layers.source(name))

    @property
    def lines(self) -> tuple[str, ...]:
        """A sentence for each."""
        return tuple(self._lines)

    def error(self) -> ConfigError:
        """All of them, as one error."""
        many = "This setting is" if len(self._lines) == 1 else f"These {len(self._lines)} settings are"
        told = "\n".join([f"{many} wrong:", *(f"  {line}" for line in self._lines)])
        return ConfigError(told, left_out=self._left_out)

    def _add_detail(self, name: str, title: str, detail: ErrorDetails, source: str) -> None:
        self._left_out.append(title)
        match detail["type"]:
            case "extra_forbidden":
                self.add_unknown(title, self._near(detail["loc"]), source)
            case "missing":
                self._lines.append(f"{title}: is missing{_from(source)}; add it.")
            case "union_tag_not_found":
                self._lines.append(f"{title}: is missing{_from(source)}; add it: {_either(known_channels())}.")
            case "unusable_package":
                self._lines.append(f"{title}: {detail['msg']}")
            case "value_error" if _table(self._model, detail["loc"]):  # a fault between settings of one table
                self._lines.append(f"{title}: {wanted(name, detail)}{_from(source)}.")
            case kind:
                value = detail["ctx"]["tag"] if kind == "union_tag_invalid" else detail["input"]
                given = _shape(value, secret=is_secret(name) or self._holds_secret(detail["loc"]))
                self._lines.append(f"{title}: got {given}{_from(source)}; expected {wanted(name, detail)}.")

    def _holds_secret(self, place: tuple[int | str, ...]) -> bool:
        """True if the setting there holds a secret, whatever its name: a package's may have any."""
        *above, last = place
        table = _table(self._model, above)
        info = table.model_fields.get(str(last)) if table else None
        return info is not None and SecretStr in (info.annotation, *get_args(info.annotation))

    def _near(self, place: tuple[int | str, ...]) -> str | None:
        """The known name most like this one: first among its neighbours, then the same word anywhere else."""
        *above, last = place
        table = _table(self._model, above)
        prefix = _dotted(without_tag(above))
        if near := nearest(str(last), table.model_fields if table else ()):
            return f"{prefix}.{near}" if prefix else near
        if (joined := "_".join(map(str, place))) in self._model.model_fields:  # "guard.rules" for "guard_rules"
            return joined
        # Of several with this last word the first counts: the tables that most people set come first.
        elsewhere = {name.rpartition(".")[2]: name for name in reversed(list(_all_names(self._model)))}
        near = nearest(str(last), elsewhere)
        return elsewhere[near] if near else None


def _either(words: Iterable[str]) -> str:
    *most, last = [f'"{word}"' for word in words]
    return f"{', '.join(most)} or {last}"


def without_tag(place: Sequence[int | str]) -> tuple[int | str, ...]:
    """A place as the file has it: pydantic puts in which kind of table it took an item of a list for."""
    plain = [step for step, before in zip(place, (None, *place), strict=False) if not _is_tag(step, before)]
    return tuple(plain)


def _is_tag(step: int | str, before: int | str | None) -> bool:
    return isinstance(before, int) and step in known_channels()


def _place(detail: ErrorDetails) -> tuple[int | str, ...]:
    """Place of the fault; what should tell the kind of a table is a setting of its own."""
    place = without_tag(detail["loc"])
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return *place, str(detail["ctx"]["discriminator"]).strip("'")
    return place


def wanted(name: str, detail: ErrorDetails) -> str:
    """The words for a value that fits where `detail` is at fault."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(**context)
    if kind in ("literal_error", "enum"):
        return str(context["expected"]).replace("'", '"')
    if kind == "union_tag_invalid":
        return _either(known_channels())
    if kind == "tuple_type" and isinstance(detail["input"], dict):
        return f"a list: write [[{name}]] with two brackets"
    if kind == "too_short":
        return f"at least {context['min_length']}, or leave it out"
    if kind == "value_error":
        return str(context["error"])
    return _WANTED.get(kind, detail["msg"])


def _shape(value: object, *, secret: bool) -> str:
    """Shape of what was given, in words; with the value where it may be shown."""
    match value:
        case bool():
            kind, shown = "a switch", str(value).lower()
        case int() | float():
            kind, shown = "a number", str(value)
        case str():
            kind, shown = f"text of {len(value)} characters" if secret or len(value) > 60 else "text", f'"{value}"'
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return "a table"
        case _:
            return f"a {type(value).__name__}"
    return kind if secret or len(shown) > 62 else f"{kind} {shown}"


def _from(source: str) -> str:
    return f" (from {source})" if source else ""


def _dotted(place: tuple[int | str, ...]) -> str:
    text = ""
    for step in place:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def _table(model: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel] | None:
    """The model of the table at `place`."""
    kinds: Sequence[type[BaseModel]] = [model]
    for step, before in zip(place, (None, *place), strict=False):
        if isinstance(step, int):
            continue
        if _is_tag(step, before):
            kinds = [known_channels()[str(step)].settings]
        else:
            info = kinds[0].model_fields.get(step)
            kinds = list(_models_in(info.annotation)) if info else []
        if not kinds:
            return None
    return kinds[0]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The kinds of table that a setting may be, or be a list of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _all_names(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, info in model.model_fields.items():
        yield above + name
        for below in _models_in(info.annotation):
            yield from _all_names(below, f"{above}{name}.")
