"""Images that people sent, in the form in which models take them."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from runtime.contract import FileRef, ModelRequest, Turn, UserTurn

MOST_BYTES: Final = 5 << 20
"""Of one image: what the strictest of the large vendors takes."""

REQUEST_MAX_IMAGES: Final = 4
"""Images of one request, the newest of the conversation: every model call carries them again."""

HEAD: Final = 16  # bytes in which each of these formats tells itself
SIGNS: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


NO_IMAGES: Final[Mapping[str, str]] = {}


class Images(StrEnum):
    """Settings for images: is a model shown them?"""

    AUTO = "auto"  # if LiteLLM knows that it looks at them
    ON = "on"
    OFF = "off"


class Sight:
    """Sight of one model: files that it is shown beside the text."""

    def __init__(self, model: str, images: Images) -> None:
        self._model = model
        self._looks = {Images.ON: True, Images.OFF: False}.get(images)
        self._refused: deque[int] = deque(maxlen=1_000)

    async def images(self, litellm: Any, request: ModelRequest) -> Mapping[str, str]:
        """As `pictures`, where the model looks at any."""
        if not has_files(request):
            return NO_IMAGES
        if self._looks is None:  # once: for a model that is in no list the search is long
            self._looks = takes_images(litellm, self._model)
        found = await asyncio.to_thread(pictures, request) if self._looks else NO_IMAGES
        return {path: url for path, url in found.items() if hash(url) not in self._refused}

    def refuse(self, images: Mapping[str, str]) -> None:
        """Show none of `images` again: one of them may be broken, and would spoil each later request of its room."""
        self._refused.extend(hash(url) for url in images.values())


def takes_images(litellm: Any, model: str) -> bool:
    """True if LiteLLM's list says so."""
    try:
        return bool(litellm.supports_vision(model=model))
    except Exception:  # noqa: BLE001 - that a model is in no list has no class of error of its own
        return False


def has_files(request: ModelRequest) -> bool:
    """True if there is anything to look at: most conversations have no files."""
    return request.files is not None and any(turn.files for turn in request.turns if isinstance(turn, UserTurn))


def pictures(request: ModelRequest) -> Mapping[str, str]:
    """The newest images of the conversation as data URLs, by path. Reads files; what is gone or too large is left out."""
    found: dict[str, str] = {}
    if request.files is not None:
        for file in _newest_first(request.turns):
            if len(found) == REQUEST_MAX_IMAGES:
                break
            if file.path not in found and (url := _data_url(request, file)):
                found[file.path] = url
    return found


def kind_of(head: bytes) -> str | None:
    """The type of an image by its first bytes, whatever it is called; None for what is none that models take."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for sign, kind in SIGNS.items() if head.startswith(sign)), None)


def kinds(request: ModelRequest) -> Mapping[str, str]:
    """The types of the images among `pictures`, by path."""
    return {path: url[len("data:") : url.index(";")] for path, url in pictures(request).items()}


def _newest_first(turns: Sequence[Turn]) -> Iterator[FileRef]:
    for turn in reversed(turns):
        if isinstance(turn, UserTurn):
            yield from reversed(turn.files)


def _data_url(request: ModelRequest, file: FileRef) -> str | None:
    assert request.files is not None  # noqa: S101 - asked by the only caller
    try:
        with request.files(file.path) as opened:
            head = opened.read(HEAD)
            kind = kind_of(head)
            rest = opened.read(MOST_BYTES - HEAD + 1) if kind else b""
    except (OSError, ValueError):
        return None
    if kind is None or len(head) + len(rest) > MOST_BYTES:
        return None
    return f"data:{kind};base64,{b64encode(head + rest).decode()}"
