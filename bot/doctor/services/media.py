"""Models of pictures, recordings and voices: are their names and keys there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.services.model import reachable
from bot.doctor.subject import Subject, fault, fine
from bot.secrets import model_keys
from bot.settings.models.media import ImageSection, SpeechSection, TranscriptionSection
from bot.settings.models.tables import DEMO
from bot.wiring.models.media import media_settings
from runtime.contract import Finding
from runtime.models.settings import ModelSettings

WHY_MEDIA: Final = {
    "images": "No pictures are made.",
    "transcription": "Recordings aren't written down.",
    "speech": "Nothing is spoken.",
}
OF_THE_DEMO: Final = {"images": "the demo's pictures, without a vendor", "speech": "the demo's tones, without a vendor"}


async def check_media(subject: Subject) -> Sequence[Finding]:
    findings = []
    for table, given in _named(subject):
        if given is None:
            findings.append(fine(f"{table}.name", OF_THE_DEMO[table]))
        elif faulty := _fault(table, given):
            findings.append(faulty)
        else:
            findings += [
                fine(f"{table}.name", given.name),
                await reachable(table, given.name, given.api_base, WHY_MEDIA[table]),
            ]
    return findings


def _named(subject: Subject) -> Iterator[tuple[str, ModelSettings | None]]:
    settings = subject.settings
    sections: Sequence[tuple[str, ImageSection | TranscriptionSection | SpeechSection]] = (
        ("images", settings.images),
        ("transcription", settings.transcription),
        ("speech", settings.speech),
    )
    for table, section in sections:
        if section.name:
            is_demo = section.name == DEMO and table in OF_THE_DEMO
            yield table, None if is_demo else media_settings(settings, section, section.name)


def _fault(table: str, given: ModelSettings) -> Finding | None:
    from runtime.models.vendors import fault_of

    if wrong := fault_of(given.name, given.api_base):
        return fault(f"{table}.name", wrong, WHY_MEDIA[table], f"set {table}.name")
    if not given.keys and not given.api_base and (names := model_keys.names(given.name)):
        what = f"{given.name}: it needs a key, and none was found"
        return fault(f"{table}.key", what, WHY_MEDIA[table], f"signalbox secrets set {names[0]}")
    return None
