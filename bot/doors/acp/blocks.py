"""Prompts of an editor as messages: words, and files that come with them. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from runtime.http.bodies import FILES_LIMIT, TEXT_LIMIT
from runtime.text.words import marked, say

ATTACHED_NAME_MAX_CHARS: Final = 100
LONG_PROMPT: Final = "prompt.txt"
LONG_PROMPT_SHOWN: Final = 2_000
"""Characters of a prompt that comes as a file."""
LONG_PROMPT_NOTE: Final = "\n\n[All of it is in the attached file {name}.]"
ATTACHED_NOTE: Final = "[attached: {uri}]"
IMAGE_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
TOO_MANY_FILES: Final = marked("This prompt can't be sent: at most {most} files come with one.")
NOTHING_SAID: Final = marked("This prompt can't be sent: there is nothing in it.")
NO_BASE64: Final = marked("This prompt can't be sent: the data of a file is no base64.")


class BlockFault(Exception):
    """A prompt can't be sent; the message says why."""


@dataclass(slots=True)
class Spoken:
    """A message: its text, and files as (name, content)."""

    text: str = ""
    files: list[tuple[str, bytes]] = field(default_factory=list)


def linked(blocks: Sequence[Any]) -> list[str]:
    """Addresses of files that a prompt links to without their content. At most as many as a message takes."""
    found = dict.fromkeys(block.uri for block in blocks if block.type == "resource_link" and path_of(block.uri))
    return [*found][:FILES_LIMIT]


def path_of(uri: str) -> str:
    """The path of a file of this machine; empty for any other address.

    >>> path_of("file:///notes/a%20b.md#L3"), path_of("https://example.org/a")
    ('/notes/a b.md', '')
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else ""


def spoken(blocks: Sequence[Any], read: Mapping[str, str]) -> Spoken:
    """The message of a prompt. `read` has the texts of linked files, by address. Errors: BlockFault."""
    said = Spoken()
    said.text = "\n".join([piece for block in blocks if (piece := _taken(block, said.files, read)) is not None]).strip()
    if len(said.text) > TEXT_LIMIT:
        said.files.append((LONG_PROMPT, said.text.encode("utf-8", "replace")))
        said.text = said.text[:LONG_PROMPT_SHOWN] + LONG_PROMPT_NOTE.format(name=LONG_PROMPT)
    if len(said.files) > FILES_LIMIT:
        raise BlockFault(say(TOO_MANY_FILES, most=FILES_LIMIT))
    if not said.text and not said.files:
        raise BlockFault(say(NOTHING_SAID))
    return said


def _taken(block: Any, files: list[tuple[str, bytes]], read: Mapping[str, str]) -> str | None:
    """Words of a block, None where it has none; its file goes to `files`. Errors: BlockFault."""
    match block.type:
        case "text":
            return str(block.text)
        case "resource_link" if block.uri in read:
            file = (named(block.uri), read[block.uri].encode("utf-8", "replace"))
            files += [file] if file not in files else []  # once, however often it's named
            return ATTACHED_NOTE.format(uri=block.uri)
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case "image" | "audio":
            ending = IMAGE_ENDINGS.get(block.mime_type, block.mime_type.partition("/")[2] or "bin")
            name = named(block.uri or "") if block.type == "image" and block.uri else f"{block.type}.{ending}"
            files.append((name, decoded(block.data)))
        case "resource":
            resource = block.resource
            content = getattr(resource, "text", None)
            data = content.encode("utf-8", "replace") if content is not None else decoded(resource.blob)
            files.append((named(resource.uri), data))
            return ATTACHED_NOTE.format(uri=resource.uri)
        case _:
            pass  # of a later version of the protocol
    return None


def named(uri: str) -> str:
    """Name of the file that an address leads to."""
    name = unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2]
    return "".join(mark if mark.isprintable() else "_" for mark in name)[-ATTACHED_NAME_MAX_CHARS:] or "file"


def decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BlockFault(say(NO_BASE64)) from None
