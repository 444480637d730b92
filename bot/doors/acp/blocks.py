"""Prompts of an editor as messages: words, and files that come with them. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from runtime.http.bodies import FILES_LIMIT, TEXT_LIMIT

ATTACHED_NAME_MAX_CHARS: Final = 100
LONG_PROMPT: Final = "prompt.txt"
LONG_PROMPT_SHOWN: Final = 2_000
"""Characters of a prompt that comes as a file."""
LONG_PROMPT_NOTE: Final = "\n\n[All of it is in the attached file {name}.]"
IMAGE_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
TOO_MANY_FILES: Final = f"at most {FILES_LIMIT} files come with one prompt"


class BlockFault(Exception):
    """A part of the prompt is of no use; the message says why."""


@dataclass(slots=True)
class Spoken:
    """A message: its text, and files as (name, content)."""

    text: str = ""
    files: list[tuple[str, bytes]] = field(default_factory=list)


def spoken(blocks: Sequence[Any]) -> Spoken:
    """The message of a prompt. Errors: BlockFault."""
    said, pieces = Spoken(), list[str]()
    for block in blocks:
        match block.type:
            case "text":
                pieces.append(block.text)
            case "resource_link":
                pieces.append(f"[{block.name}]({block.uri})")
            case "image" | "audio":
                ending = IMAGE_ENDINGS.get(block.mime_type, block.mime_type.partition("/")[2] or "bin")
                name = named(block.uri or "") if block.type == "image" and block.uri else f"{block.type}.{ending}"
                said.files.append((name, decoded(block.data)))
            case "resource":
                resource = block.resource
                content = getattr(resource, "text", None)
                data = content.encode("utf-8", "replace") if content is not None else decoded(resource.blob)
                said.files.append((named(resource.uri), data))
                pieces.append(f"[attached: {resource.uri}]")
            case _:
                pass  # of a later version of the protocol
    said.text = "\n".join(pieces).strip()
    if len(said.text) > TEXT_LIMIT:
        said.files.append((LONG_PROMPT, said.text.encode("utf-8", "replace")))
        said.text = said.text[:LONG_PROMPT_SHOWN] + LONG_PROMPT_NOTE.format(name=LONG_PROMPT)
    if len(said.files) > FILES_LIMIT:
        raise BlockFault(TOO_MANY_FILES)
    if not said.text and not said.files:
        raise BlockFault("there is nothing in it")
    return said


def named(uri: str) -> str:
    """Name of the file that an address leads to."""
    name = unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2]
    return "".join(mark if mark.isprintable() else "_" for mark in name)[-ATTACHED_NAME_MAX_CHARS:] or "file"


def decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BlockFault("the data of a file is no base64") from None
