"""Pictures of the demo: a mirrored pattern whose colours and fields come from the words, so the same words give the same one."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from runtime.contract import Usage
from runtime.contract.media import PICTURES_MAX, Painted, Shape

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
