"""Results of a server, in our words: texts, and files that stand between them.

Bytes written as text (base64) are no words: in a block they are a file, and elsewhere a note of how many there were.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

ENCODED: Final = re.compile(r"(?:data:[\w.+/-]+;base64,)?[A-Za-z0-9+/_-]{512,}={0,2}")
KINDS: Final = (re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]"))
"""All of these are in the bytes of any file: what lacks one is a long word, a row of digits or a name in hexadecimals."""
NO_VALUE: Final = object()


@dataclass(frozen=True, slots=True)
class Blob:
    """A file within an answer. `what` it is in a word for people; `name` is what its server calls it, if anything."""

    what: str
    mime: str
    data: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Texts and files in their order. `failed`: the tool itself says so."""

    pieces: Sequence[str | Blob]
    failed: bool


def answer_of(result: CallToolResult) -> Answer:
    pieces = [piece for block in result.content for piece in _pieces(block)]
    if result.structured_content is not None and not any(isinstance(piece, str) for piece in pieces):
        pieces += _structured(result)
    return Answer([readable(piece) if isinstance(piece, str) else piece for piece in pieces], result.is_error)


def resource_of(result: ReadResourceResult) -> Answer:
    return Answer([readable(one) if isinstance(one, str) else one for one in map(_resource, result.contents)], False)


def prompt_of(result: GetPromptResult) -> Answer:
    """A prompt as material: whoever reads it decides what to do with it."""
    pieces: list[str | Blob] = [result.description] if result.description else []
    for message in result.messages:
        pieces += [f"{message.role}: {one}" if isinstance(one, str) else one for one in _pieces(message.content)]
    return Answer([readable(piece) if isinstance(piece, str) else piece for piece in pieces], False)


def readable(text: str) -> str:
    """`text` with a note in place of each file that is written into it."""
    return ENCODED.sub(_noted, text) if len(text) >= 512 else text


def _noted(found: re.Match[str]) -> str:
    encoded = found[0].rpartition(",")[2].rstrip("=")
    if not all(kind.search(encoded) for kind in KINDS):
        return found[0]
    return f"[{len(encoded) * 3 // 4:,} bytes as base64, left out]"


def _structured(result: CallToolResult) -> Iterator[str]:
    """Words of the structured form beyond the blocks, which servers often repeat in it."""
    said = [json.loads(block.model_dump_json(by_alias=True, exclude_none=True)) for block in result.content]
    left = _beyond(result.structured_content, said)
    if left is not NO_VALUE:
        yield json.dumps(left, ensure_ascii=False)


def _beyond(value: Any, said: Sequence[Any]) -> Any:
    """`value` without what is `said`; NOTHING where that was all of it."""
    if _is_said(value, said):
        return NO_VALUE
    if not value or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        kept = [left for item in value if (left := _beyond(item, said)) is not NO_VALUE]
        return kept or NO_VALUE
    named = {name: left for name, item in value.items() if (left := _beyond(item, said)) is not NO_VALUE}
    return named or NO_VALUE


def _is_said(value: Any, said: Sequence[Any]) -> bool:
    """A block with or without its empty fields, or the bytes of one."""
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if item is not None} in said
    return isinstance(value, str) and bool(value) and any(value in (it.get("data"), _blob_of(it)) for it in said)


def _blob_of(block: Any) -> Any:
    return (block.get("resource") or {}).get("blob")


def _pieces(block: ContentBlock) -> Iterator[str | Blob]:
    match block:
        case TextContent():
            yield block.text
        case ImageContent():
            yield _blob("image", block.mime_type, block.data)
        case AudioContent():
            yield _blob("sound", block.mime_type, block.data)
        case ResourceLink():
            said = f" ({block.description})" if block.description else ""
            yield f"[{block.title or block.name}{said}: {block.uri}]"
        case EmbeddedResource():
            yield _resource(block.resource)


def _resource(inner: TextResourceContents | BlobResourceContents) -> str | Blob:
    if isinstance(inner, TextResourceContents):
        return inner.text
    name = urlsplit(inner.uri).path.rpartition("/")[2]
    return _blob("file", inner.mime_type or "application/octet-stream", inner.blob, unquote(name))


def _blob(what: str, mime: str, data: str, name: str = "") -> Blob | str:
    try:
        return Blob(what, mime, base64.b64decode(data, validate=True), name)
    except (binascii.Error, ValueError):
        return f"[{what}: what the server sent is no valid base64]"
