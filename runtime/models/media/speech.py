"""Any model of speech that LiteLLM speaks to, behind our Protocol."""

from __future__ import annotations

from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, Final

from runtime.contract.media import WrittenDown
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.media.asking import Asking, Unit
from runtime.models.settings import ModelSettings

ENDINGS_KNOWN: Final = {".oga": ".ogg", ".opus": ".ogg"}
"""Endings of voice notes that vendors don't know, and those under which they take the same."""
MINUTE: Final = 60.0  # seconds


class LiteSpeech:
    """Implements `contract.media.SpeechModel`."""

    def __init__(self, settings: ModelSettings, unit: Unit, *, library: Library = LIBRARY) -> None:
        self.name = settings.name
        self._asking = Asking(settings, unit, library=library)

    async def write_down(self, recording: bytes, name: str) -> WrittenDown:
        file = BytesIO(recording)
        ending = PurePosixPath(name).suffix.lower()
        file.name = f"recording{ENDINGS_KNOWN.get(ending, ending)}"  # its ending tells vendors what it is
        answer, usage = await self._asking.ask("atranscription", {"file": file}, _minutes)
        return WrittenDown(str(getattr(answer, "text", "") or "").strip(), usage)


def _minutes(answer: Any) -> float | None:
    """Length of the recording, where the vendor says it."""
    usage = getattr(answer, "usage", None)
    seconds = getattr(answer, "duration", None) or getattr(usage, "seconds", None)
    return float(seconds) / MINUTE if seconds else None
