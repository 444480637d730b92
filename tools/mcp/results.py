"""What a server answers, in our words: texts, and files that stand between them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)


@dataclass(frozen=True, slots=True)
class Blob:
    """A file within an answer. `what` it is in a word for people."""

    what: str
    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Texts and files in their order. `failed`: the tool itself says so."""

    pieces: Sequence[str | Blob]
    failed: bool


def answer_of(result: CallToolResult) -> Answer:
    pieces = [piece for block in result.content for piece in _pieces(block)]
    if result.structured_content is not None and not any(isinstance(piece, str) for piece in pieces):
        pieces.append(json.dumps(result.structured_content, ensure_ascii=False))
    return Answer(pieces, result.is_error)


def _pieces(block: ContentBlock) -> Iterator[str | Blob]:
    match block:
        case TextContent():
            yield block.text
        case ImageContent():
            yield _blob("image", block.mime_type, block.data)
        case AudioContent():
            yield _blob("sound", block.mime_type, block.data)
        case ResourceLink():
            yield f"[{block.name}: {block.uri}]"
        case EmbeddedResource():
            yield _resource(block.resource)


def _resource(inner: TextResourceContents | BlobResourceContents) -> str | Blob:
    if isinstance(inner, TextResourceContents):
        return inner.text
    return _blob("file", inner.mime_type or "application/octet-stream", inner.blob)


def _blob(what: str, mime: str, data: str) -> Blob | str:
    try:
        return Blob(what, mime, base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return f"[{what}: what the server sent is no valid base64]"
