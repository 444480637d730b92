"""Wishes of a client that its agent is told in words: tools of the client's own, and a form for the answer. Pure.

They stand at the end of the message, behind marks that nothing else in it can have. So whoever reads the message's row
later, on any node, knows them again, and reads calls and the form out of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.doors.openai.told import ToldCall
from runtime.http.errors import Refusal
from tools.kit.schemas import schema_faults

MARK_OPENS: Final = "⟦Program's "
TOOLS_MARK: Final = f"{MARK_OPENS}tools⟧"
FORM_MARK: Final = f"{MARK_OPENS}form⟧"
CALLS_FENCE: Final = "```tool_calls"
CALLS_END: Final = "```"
CALLS_BEGIN: Final = re.compile(rf"{CALLS_FENCE}[ \t]*\n")
JSON_BLOCK: Final = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
CLIENT_TOOLS_MAX: Final = 64
WISHES_MAX_CHARS: Final = 40_000
TELLS_TOOLS: Final = (
    "The program that asks has tools of its own beside yours, listed below with the JSON Schema of their arguments. {must} "
    "End your answer with this block then, and write nothing behind it; the results come as the next message:\n"
    f'{CALLS_FENCE}\n[{{"name": "…", "arguments": {{…}}}}]\n```'
)
MAY_CALL: Final = "Use some of them where that helps."
MUST_CALL: Final = "Use {name} now."
TELLS_FORM: Final = "Answer with one JSON object alone, without other words, that fits this JSON Schema:"
ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
BAD_TOOL: Final = (
    "Each of `tools` needs the type `function`, a name of letters, digits, - and _, and its parameters as JSON Schema."
)
BAD_CHOICE: Final = "`tool_choice` is auto, none, required, or a function that is one of `tools`."
BAD_FORM: Final = "The format is text, json_object, or json_schema with a `schema` that is an object."
TOO_MANY_WISHES: Final = (
    f"`tools` and the format are too large: at most {CLIENT_TOOLS_MAX} tools, and {WISHES_MAX_CHARS:,} characters."
)
NO_JSON: Final = "It isn't one JSON object."
BAD_CALLS: Final = "The block of calls isn't a JSON list of objects with `name` and `arguments`."
AGAIN: Final = "Your last answer can't be used: {fault} Answer again, whole, in the form that was asked for."


@dataclass(frozen=True, slots=True)
class Wishes:
    """`tools` by name with their parameters; `form` is a schema, or None for words."""

    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None
    listed: Sequence[Mapping[str, Any]] = ()
    must: str = ""

    def __bool__(self) -> bool:
        return bool(self.tools) or self.form is not None

    @property
    def words(self) -> str:
        """The end of a message; empty where nothing is wished for."""
        told = []
        if self.listed:
            must = MUST_CALL.format(name=self.must) if self.must else MAY_CALL
            told.append(f"{TELLS_TOOLS.replace('{must}', must)}\n{TOOLS_MARK}\n{_line(self.listed)}")
        if self.form is not None:
            told.append(f"{TELLS_FORM}\n{FORM_MARK}\n{_line(self.form)}")
        words = "\n\n".join(told)
        if len(words) > WISHES_MAX_CHARS:
            raise Refusal(413, TOO_MANY_WISHES)
        return words


def unmarked(text: str) -> str:
    """Words of a client without our marks.

    >>> unmarked("⟦Program's tools⟧")
    "[[Program's tools⟧"
    """
    return text.replace(MARK_OPENS, "[[" + MARK_OPENS[1:])


def wishes_of(given: Mapping[str, Any]) -> Wishes:
    """Wishes of a request. Errors: Refusal 400, 413."""
    listed = [_tool(one) for one in given.get("tools") or ()]
    if len(listed) > CLIENT_TOOLS_MAX:
        raise Refusal(413, TOO_MANY_WISHES)
    chosen = _choice(given.get("tool_choice"), [one["name"] for one in listed])
    if chosen is None:
        listed = []
    return Wishes(_by_name(listed), _form(given), listed, chosen or "")


def wishes_in(text: str) -> Wishes:
    """Wishes that a message was sent with."""
    listed, form = _marked(text, TOOLS_MARK), _marked(text, FORM_MARK)
    tools = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return Wishes(_by_name(tools), form if isinstance(form, dict) else None, tools)


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer without its calls; `fault` where it isn't as it was wished for."""

    text: str
    calls: tuple[ToldCall, ...] = ()
    fault: str = ""


def read(text: str, wishes: Wishes, signal: str) -> Reading:
    """Read the last words of an answer."""
    if parted := _at_calls(text) if wishes.tools else None:
        return _with_calls(*parted, wishes, signal)
    if wishes.form is None:
        return Reading(text)
    bare = block[1] if (block := JSON_BLOCK.search(text)) else text.strip()
    value = _parsed(bare)
    fault = schema_faults(wishes.form, value) if isinstance(value, dict) else NO_JSON
    return Reading("" if fault else bare, fault=fault)


def _at_calls(text: str) -> tuple[str, str] | None:
    """An answer before its block of calls, and what is in the block; None where it doesn't end with one.

    Not by one pattern: a model says what it likes, and with that a hundred thousand line ends took minutes.
    """
    whole = text.rstrip()
    found = CALLS_BEGIN.search(whole, 0, len(whole) - len(CALLS_END)) if whole.endswith(CALLS_END) else None
    return (whole[: found.start()].rstrip(), whole[found.end() : -len(CALLS_END)].removesuffix("\n")) if found else None


def without_calls(text: str) -> str:
    """A text that is being said, up to where a block of calls begins, or may begin."""
    start = text.find(CALLS_FENCE)
    if start >= 0:
        return text[:start].rstrip()
    ends = (size for size in range(len(CALLS_FENCE) - 1, 0, -1) if text.endswith(CALLS_FENCE[:size]))
    return text[: len(text) - next(ends, 0)].rstrip()


def _with_calls(said: str, block: str, wishes: Wishes, signal: str) -> Reading:
    listed = _parsed(block)
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        return Reading(said, fault=BAD_CALLS)
    calls = []
    for number, one in enumerate(listed):
        name, arguments = one.get("name"), one.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return Reading(said, fault=BAD_CALLS)
        if name not in wishes.tools:
            return Reading(said, fault=f"The program has no tool {name[:64]!r}.")
        if fault := schema_faults(wishes.tools[name], arguments):
            return Reading(said, fault=f"Arguments of {name}: {fault}")
        calls.append(ToldCall(call_id(signal, number), name, json.dumps(arguments, ensure_ascii=False)))
    return Reading(said, tuple(calls))


CALL_ID: Final = re.compile(r"call_([0-9A-Za-z]+)_\d+")


def call_id(signal: str, number: int) -> str:
    return f"call_{signal}_{number}"


def signal_of_call(name: str) -> str:
    """The message whose answer made a call; empty for a call that wasn't made here."""
    found = CALL_ID.fullmatch(name)
    return found[1] if found else ""


def _tool(given: Any) -> dict[str, Any]:
    """A tool as either API writes it."""
    inner = given.get("function", given) if isinstance(given, dict) and given.get("type") == "function" else None
    name = inner.get("name") if isinstance(inner, dict) else None
    parameters = (inner.get("parameters") or ANY_OBJECT) if isinstance(inner, dict) else None
    if not (isinstance(name, str) and TOOL_NAME.fullmatch(name) and isinstance(parameters, dict | Mapping)):
        raise Refusal(400, BAD_TOOL)
    about = inner.get("description") if isinstance(inner, dict) else ""
    return {"name": name, "description": str(about or ""), "parameters": dict(parameters)}


def _choice(given: Any, names: Sequence[str]) -> str | None:
    """The tool that must be used, empty for any or none of them; None where none may be."""
    match given:
        case None | "auto":
            return ""
        case "none":
            return None
        case "required" if names:
            return "at least one of them"
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            if name in names:
                return f"`{name}`"
        case _:
            pass
    raise Refusal(400, BAD_CHOICE)


def _form(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    text = given.get("text")
    form = given.get("response_format") or (text.get("format") if isinstance(text, dict) else None)
    match form:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return ANY_OBJECT
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}} | {
            "type": "json_schema",
            "schema": dict(schema),
        }:
            if schema.get("type", "object") == "object":
                return schema
        case _:
            pass
    raise Refusal(400, BAD_FORM)


def _by_name(listed: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {one["name"]: one.get("parameters", ANY_OBJECT) for one in listed if isinstance(one.get("name"), str)}


def _marked(text: str, mark: str) -> Any:
    """JSON on the line behind a mark."""
    _, found, behind = text.rpartition(f"\n{mark}\n")
    return _parsed(behind.partition("\n")[0]) if found else None


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Any:
    """JSON, or None for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
