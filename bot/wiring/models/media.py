"""Models of pictures, of recordings and of voices, made of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from bot.settings.models.media import MediaModel
from bot.settings.models.tables import DEMO
from bot.settings.settings import Settings
from bot.wiring.engine import transcriber_of
from bot.wiring.models.made import refuses_unpriced
from runtime.contract import Address, Model
from runtime.contract.media import ImageModel, SpeechModel, Spending, VoiceModel
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ModelFailed, ToolFailed
from tools.pictures.speaking import Voice
from tools.pictures.tools import Media

if TYPE_CHECKING:
    from runtime.guard.door import Door
    from runtime.models.media.asking import Unit
    from runtime.models.settings import ModelSettings

VOICE_MAX_BYTES: Final = 20 << 20
VOICE_PAYER: Final = Address("voice", "signalbox", "notes")
"""Room that voice notes count for: they are written down before a conversation has them."""


def media_of(settings: Settings, spending: Spending, eyes: Model, door: Door) -> Media:
    """Models for pictures and recordings as the settings name them. `eyes` is the model that answers people too."""
    program, speech = transcriber_of(settings), speech_model_of(settings)
    notes = program or (VoiceNotes(speech, spending) if speech else None)
    return Media(image_model_of(settings, door), speech, program, eyes, spending, notes, voice_of(settings, door))


def voice_of(settings: Settings, door: Door) -> Voice | None:
    """None where the settings name no model of voices."""
    model = _voice_model(settings, door)
    return Voice(model, settings.speech.voice, settings.speech.max_chars) if model else None


def _voice_model(settings: Settings, door: Door) -> VoiceModel | None:
    """As the others: a client library is loaded by the first call."""
    speech = settings.speech
    if not speech.name:
        return None
    if speech.name == DEMO:
        from runtime.models.media.demo import DemoVoice

        return DemoVoice()
    from runtime.models.media.guarded import GuardedVoice
    from runtime.models.media.voices import LiteVoice

    terms = media_settings(settings, speech, speech.name)
    return GuardedVoice(LiteVoice(terms, _unit(settings, "speech"), speech.format), door)


def image_model_of(settings: Settings, door: Door) -> ImageModel | None:
    """None where the settings name none. A client library is loaded by the first call."""
    images = settings.images
    if not images.name:
        return None
    if images.name == DEMO:
        from runtime.models.media.demo import DemoImages

        return DemoImages()
    from runtime.models.media.guarded import GuardedImages
    from runtime.models.media.images import LiteImages

    return GuardedImages(LiteImages(media_settings(settings, images, images.name), _unit(settings, "images")), door)


def speech_model_of(settings: Settings) -> SpeechModel | None:
    speech = settings.transcription
    if not speech.name:
        return None
    from runtime.models.media.speech import LiteSpeech

    return LiteSpeech(media_settings(settings, speech, speech.name), _unit(settings, "transcription"))


def media_settings(settings: Settings, table: MediaModel, name: str) -> ModelSettings:
    from runtime.models.settings import ModelSettings

    return ModelSettings(
        name=name,
        api_base=table.api_base,
        api_key=table.api_key.get_secret_value() if table.api_key else "",
        timeout=table.timeout,
        lean=settings.model.lean,
    )


def _unit(settings: Settings, table: str) -> Unit:
    from runtime.models.media.asking import Unit

    prices = {
        "images": settings.images.price,
        "transcription": settings.transcription.price,
        "speech": settings.speech.price,
    }
    return Unit(table, prices[table], refuses_unpriced(settings))


class VoiceNotes:
    """Implements `contract.Transcriber` by a model of speech."""

    def __init__(self, speech: SpeechModel, spending: Spending) -> None:
        self._speech = speech
        self._spending = spending

    async def transcribe(self, recording: BinaryIO, name: str) -> str:
        if not await self._spending.affords(MAIN, VOICE_PAYER, None):
            raise ToolFailed("a budget is spent")
        data = recording.read(VOICE_MAX_BYTES + 1)
        if len(data) > VOICE_MAX_BYTES:
            raise ToolFailed(f"it has more than {VOICE_MAX_BYTES >> 20} MiB")
        try:
            found = await self._speech.write_down(data, name)
        except ModelFailed as error:
            raise ToolFailed(str(error)) from error
        await self._spending.charge(MAIN, VOICE_PAYER, None, found.usage)
        return found.text
