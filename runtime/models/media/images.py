"""Any model of pictures that LiteLLM speaks to, behind our Protocol."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from typing import Any, Final

from runtime.contract.media import PICTURES_MAX, Painted, Shape
from runtime.errors import Cause, ModelFailed
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.media.asking import Asking, Unit
from runtime.models.settings import ModelSettings

SIZES: Final[Mapping[Shape, str]] = {"square": "1024x1024", "wide": "1536x1024", "tall": "1024x1536"}
"""Pixels as gpt-image-1 takes them. Source: platform.openai.com, "Create image", read 2026-11."""
OLDER_SIZES: Final[Mapping[Shape, str]] = {"square": "1024x1024", "wide": "1792x1024", "tall": "1024x1792"}
OLDER: Final = "dall-e"
"""These take other sizes, and send an address unless they are asked for the picture itself."""
NO_PICTURE: Final = "The model of pictures sent none: its answer has no picture in it."


class LiteImages:
    """Implements `contract.media.ImageModel`."""

    def __init__(self, settings: ModelSettings, unit: Unit, *, library: Library = LIBRARY) -> None:
        self.name = settings.name
        self._asking = Asking(settings, unit, library=library)

    async def paint(self, prompt: str, shape: Shape, count: int) -> Painted:
        is_older = OLDER in self.name
        more: dict[str, Any] = {
            "prompt": prompt,
            "n": min(count, PICTURES_MAX),
            "size": (OLDER_SIZES if is_older else SIZES)[shape],
            **({"response_format": "b64_json"} if is_older else {}),
        }
        answer, usage = await self._asking.ask("aimage_generation", more, lambda found: len(found.data or []))
        pictures = [_bytes_of(row) for row in (answer.data or [])[:count]]
        if not pictures or not all(pictures):
            raise ModelFailed(NO_PICTURE, cause=Cause.ANSWER)
        return Painted(pictures, usage)


def _bytes_of(row: Any) -> bytes:
    written = getattr(row, "b64_json", None)
    try:
        return b64decode(written, validate=True) if isinstance(written, str) else b""
    except (Error, ValueError):
        return b""
