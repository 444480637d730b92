"""Text of a message without one, from its blocks or attachments, in Slack's markup. Pure.

People's messages have a text beside their blocks. Apps may leave it out, and it may be null.
Source: docs.slack.dev/reference/block-kit/blocks, docs.slack.dev/reference/block-kit/blocks/rich-text-block, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from adapters.slack.text import escaped

Raw = Mapping[str, Any]

QUOTE: Final = "> "


def text_of(told: Raw) -> str:
    """The text of a message; without one, what its blocks or attachments say."""
    text = told.get("text")
    return str(text) if text else "\n".join(_lines(told)) if told.get("blocks") or told.get("attachments") else ""


def _lines(told: Raw) -> Iterator[str]:
    found = list(filter(None, map(_block, told.get("blocks") or ())))
    yield from found or filter(None, map(_attachment, told.get("attachments") or ()))


def _attachment(one: Raw) -> str:
    """An attachment of the old kind. What was shared along is quoted by others."""
    if one.get("is_share") or one.get("is_msg_unfurl"):
        return ""
    inner = "\n".join(filter(None, map(_block, one.get("blocks") or ())))
    said = (one.get("pretext"), one.get("title"), one.get("text") or inner)
    return "\n".join(map(str, filter(None, said))) or str(one.get("fallback") or "")


def _block(block: Raw) -> str:
    match block.get("type"):
        case "rich_text":
            return "\n".join(filter(None, map(_piece, block.get("elements") or ())))
        case "markdown":
            return str(block.get("text") or "")
        case "section" | "header":
            return "\n".join(filter(None, map(_object, [block.get("text"), *(block.get("fields") or ())])))
        case "context":
            return " ".join(filter(None, map(_object, block.get("elements") or ())))
        case _:
            return ""


def _object(told: Any) -> str:
    """A text object; plain text has no markup."""
    if not isinstance(told, Mapping):
        return ""
    text = str(told.get("text") or "")
    return escaped(text) if told.get("type") == "plain_text" else text


def _piece(piece: Raw) -> str:
    """A part of rich text: a paragraph, a list, a quote, code."""
    elements = piece.get("elements") or ()
    match piece.get("type"):
        case "rich_text_list":
            return "\n".join(_items(piece, elements))
        case "rich_text_quote":
            return "\n".join(QUOTE + line for line in _run(elements).splitlines())
        case "rich_text_preformatted":
            return f"```\n{_run(elements).strip()}\n```"
        case _:
            return _run(elements).strip("\n")


def _items(piece: Raw, elements: Iterable[Raw]) -> Iterator[str]:
    first = int(piece.get("offset") or 0) + 1
    indent = "  " * int(piece.get("indent") or 0)
    for number, element in zip(count(first), elements, strict=False):
        yield f"{indent}{f'{number}.' if piece.get('style') == 'ordered' else '•'} {_piece(element)}"


def _run(elements: Iterable[Raw]) -> str:
    return "".join(map(_element, elements))


def _element(one: Raw) -> str:
    match one.get("type"):
        case "user":
            return f"<@{one.get('user_id')}>"
        case "channel":
            return f"<#{one.get('channel_id')}>"
        case "usergroup":
            return f"<!subteam^{one.get('usergroup_id')}>"
        case "broadcast":
            return f"<!{one.get('range')}>"
        case "emoji":
            return f":{one.get('name')}:"
        case "link":
            return f"<{one.get('url')}|{escaped(str(one['text']))}>" if one.get("text") else f"<{one.get('url')}>"
        case "date":
            return escaped(str(one.get("fallback") or one.get("timestamp") or ""))
        case "color":
            return str(one.get("value") or "")
        case _:
            return escaped(str(one.get("text") or ""))
