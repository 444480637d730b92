"""`[images]`, `[transcription]` and `[speech]`: models that make pictures, write recordings down, and speak."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from runtime.settings.types import Number, Secret, Section


class MediaModel(Section):
    """Settings that all of them have."""

    api_base: str = Field(
        default="", description="Address of an OpenAI-compatible or local server; empty: the vendor's own."
    )
    api_key: Secret = Field(
        default=None,
        description="The vendor's key. Default: the vendor's usual variable (OPENAI_API_KEY, …).",
    )
    api_key_env: str = Field(default="", description="Name of the variable that holds `api_key`.")
    timeout_seconds: Number = Field(default=180, gt=0, le=600, description="Longest wait for one answer.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class ImageSection(MediaModel):
    """Makes pictures for `image_make`: [pictures.md](pictures.md)."""

    name: str = Field(
        default="",
        description='Model of pictures, such as "openai/gpt-image-1"; "demo" draws patterns without a vendor. Empty: '
        "no pictures are made.",
    )
    price: Number | None = Field(
        default=None, ge=0, description="US dollars for one picture. Default: the price in LiteLLM's list."
    )


class TranscriptionSection(MediaModel):
    """Writes down voice notes and recordings: [pictures.md](pictures.md)."""

    name: str = Field(
        default="",
        description='Model of speech, such as "openai/whisper-1". Empty: `command` under `[tools.transcribe]`, if that is set.',
    )
    price: Number | None = Field(
        default=None, ge=0, description="US dollars for a minute. Default: the price in LiteLLM's list."
    )


class SpeechSection(MediaModel):
    """Speaks words for `speak`: [pictures.md](pictures.md#speaking)."""

    name: str = Field(
        default="",
        description='Model of voices, such as "openai/gpt-4o-mini-tts"; "demo" makes a tone for each word without a vendor. Empty: '
        "there is no `speak`.",
    )
    voice: str = Field(
        default="alloy",
        min_length=1,
        max_length=100,
        description="The vendor's name of the voice, unless a call names one.",
    )
    format: Literal["mp3", "opus", "aac", "flac", "wav"] = Field(
        default="mp3", description="Kind of recording that is asked for. `opus` becomes a voice note on Telegram."
    )
    max_chars: int = Field(default=4_000, ge=1, le=20_000, description="Characters of one call.")
    price: Number | None = Field(
        default=None, ge=0, description="US dollars for a million characters. Default: the price in LiteLLM's list."
    )
