"""Pictures and recordings of the demo. The same words give the same ones.

A picture is a mirrored pattern whose colours and fields come from the words; a recording has a tone for each word.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import math
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping
from typing import Final

from runtime.contract import Usage
from runtime.contract.media import PICTURES_MAX, Painted, Shape, Spoken

PATTERN_FIELDS: Final = 8
"""On each side of the pattern."""
FIELD_PIXELS: Final[Mapping[Shape, tuple[int, int]]] = {"square": (32, 32), "wide": (48, 32), "tall": (32, 48)}
TRUE_COLOUR: Final = (8, 2, 0, 0, 0)  # 8 bits of red, green and blue. Source: PNG specification, 11.2.2


class DemoImages:
    """Implements `contract.media.ImageModel` without a vendor."""

    name = "demo"

    async def paint(self, prompt: str, shape: Shape, count: int) -> Painted:
        made = [_picture(f"{number} {prompt}", *FIELD_PIXELS[shape]) for number in range(min(count, PICTURES_MAX))]
        return Painted(made, Usage(self.name, len(prompt.split())))


def _picture(words: str, width: int, height: int) -> bytes:
    seed = hashlib.sha512(words.encode()).digest()
    colours = [bytes(128 + part // 2 for part in seed[at : at + 3]) for at in (0, 3)] + [seed[6:9]]
    lines = b"".join(_lines(seed[9:], colours, width, height))
    header = struct.pack(">II5B", width * PATTERN_FIELDS, height * PATTERN_FIELDS, *TRUE_COLOUR)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(lines, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _lines(seed: bytes, colours: list[bytes], width: int, height: int) -> Iterator[bytes]:
    half = PATTERN_FIELDS // 2
    for row in range(PATTERN_FIELDS):
        fields = [colours[seed[row * half + column] % len(colours)] for column in range(half)]
        line = b"\0" + b"".join(colour * width for colour in [*fields, *reversed(fields)])
        yield line * height


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# ----------------------------------------------------------------------------------------------------------- recordings

SAMPLES_A_SECOND: Final = 8_000
TONE_SECONDS: Final = 0.18
SILENCE_SECONDS: Final = 0.04
TONES_MAX: Final = 60
"""Words that are heard; what follows is not."""
LOWEST_HERTZ: Final = 220
SEMITONES: Final = 24
LOUDNESS: Final = 9_000
"""Of 32,767 at most."""


class DemoVoice:
    """Implements `contract.media.VoiceModel` without a vendor: a WAV with a tone for each word, higher or deeper by its letters
    and the voice."""

    name = "demo"

    async def speak(self, text: str, voice: str) -> Spoken:
        words = text.split()
        made = await asyncio.to_thread(_recording, words[:TONES_MAX], voice)
        return Spoken(made, Usage(self.name, len(words)))


def _recording(words: list[str], voice: str) -> bytes:
    import wave  # here: few processes ever make one

    samples = array("h")
    for word in words:
        step = hashlib.sha256(f"{voice} {word.casefold()}".encode()).digest()[0] % SEMITONES
        samples.extend(_tone(LOWEST_HERTZ * 2 ** (step / 12)))
        samples.extend([0] * int(SILENCE_SECONDS * SAMPLES_A_SECOND))
    with io.BytesIO() as file:
        with wave.open(file, "wb") as recording:
            recording.setnchannels(1)
            recording.setsampwidth(2)
            recording.setframerate(SAMPLES_A_SECOND)
            recording.writeframes(samples.tobytes())
        return file.getvalue()


def _tone(hertz: float) -> Iterator[int]:
    """A tone that begins and ends softly, so that it doesn't click."""
    count = int(TONE_SECONDS * SAMPLES_A_SECOND)
    for at in range(count):
        swell = math.sin(math.pi * at / count)
        yield round(LOUDNESS * swell * math.sin(2 * math.pi * hertz * at / SAMPLES_A_SECOND))
