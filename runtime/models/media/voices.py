"""Any model that speaks and that LiteLLM knows, behind our Protocol."""

from __future__ import annotations

from typing import Any, Final

from runtime.contract.media import Spoken
from runtime.models.litellm_loading import LIBRARY, Library
from runtime.models.media.asking import Asking, Unit
from runtime.models.settings import ModelSettings

SPOKEN_MAX_BYTES: Final = 20 << 20
"""Bytes of a recording: an hour and a half of MP3 as OpenAI makes it. Source: platform.openai.com, "Text to speech", read 2026-11."""


class LiteVoice:
    """Implements `contract.media.VoiceModel`. The price of its `unit` is that of a million characters."""

    def __init__(self, settings: ModelSettings, unit: Unit, form: str, *, library: Library = LIBRARY) -> None:
        """`form` is the kind of recording that is asked for, as OpenAI names it."""
        self.name = settings.name
        self._form = form
        self._asking = Asking(settings, unit, library=library)

    async def speak(self, text: str, voice: str) -> Spoken:
        more: dict[str, Any] = {"input": text, "voice": voice, "response_format": self._form}
        answer, usage = await self._asking.ask("aspeech", more, lambda _: len(text) / 1e6, SPOKEN_MAX_BYTES)
        return Spoken(bytes(answer.content), usage)
