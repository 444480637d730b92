"""A server that speaks OpenAI's pictures, recordings, voices and chat with pictures.

python -m tests.fakes.media --port 0
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from aiohttp import web

from bot.testing.serve import serve_until_told

SIZES: Final = ("1024x1024", "1536x1024", "1024x1536", "auto")
"""Of gpt-image-1. Source: platform.openai.com, "Create image", read 2026-11."""
HEARD: Final = (".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".ogg", ".wav", ".webm")


VOICES: Final = ("alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse")
"""Source: platform.openai.com, "Text to speech", read 2026-11."""
SPOKEN_MAX_CHARS: Final = 4_096
SOUNDS: Final = {
    "mp3": (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg"),
    "opus": (b"OggS" + bytes(24) + b"OpusHead", "audio/opus"),
    "aac": (b"\xff\xf1\x50\x80", "audio/aac"),
    "flac": (b"fLaC\0\0\0\x22", "audio/flac"),
    "wav": (b"RIFF\xff\xff\xff\xffWAVEfmt ", "audio/wav"),
}
"""How recordings begin, with their types."""
ENDLESS_MIB: Final = 1_024
ZEROS: Final = bytes(1 << 20)


def sound(form: str, text: str) -> bytes:
    """A recording of that kind, as far as anybody here looks into one."""
    return SOUNDS[form][0] + text.encode()


def dot(red: int) -> bytes:
    """A PNG of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">II5B", 1, 1, 8, 2, 0, 0, 0)
    line = zlib.compress(bytes((0, red, 0, 0)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", line) + chunk(b"IEND", b"")


@dataclass
class MediaServer:
    """The server. `requests` are bodies of calls for pictures, `recordings` names and bytes; `spoilt` pictures are no base64.
    `spoken` are bodies of calls for voices: `answers` says with what they are answered in place of a recording.
    """

    status: int = 200
    spoilt: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    recordings: list[tuple[str, bytes]] = field(default_factory=list)
    spoken: list[dict[str, Any]] = field(default_factory=list)
    answers: Literal["", "page", "nothing", "endless", "bomb", "silence"] = ""

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/images/generations", self._paint)
        app.router.add_post("/v1/audio/transcriptions", self._hear)
        app.router.add_post("/v1/audio/speech", self._speak)
        return app

    async def _paint(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        if self.status != 200:
            return _refusal(self.status, "no pictures today")
        if body.get("size", "auto") not in SIZES or not body.get("prompt"):
            return _refusal(400, "Invalid value.")
        rows = [
            {"b64_json": "?" if self.spoilt else base64.b64encode(dot(number)).decode()}
            for number in range(body.get("n", 1))
        ]
        usage = {"input_tokens": 5, "output_tokens": 100, "total_tokens": 105}
        return web.json_response({"created": 0, "data": rows, "usage": usage})

    async def _hear(self, request: web.Request) -> web.Response:
        fields = await request.post()
        file = fields["file"]
        if not isinstance(file, web.FileField) or not file.filename.endswith(HEARD):
            return _refusal(400, "Unrecognized file format.")
        data = file.file.read()
        self.recordings.append((file.filename, data))
        if self.status != 200:
            return _refusal(self.status, "no ears today")
        told = {"text": f"I hear {len(data)} bytes.", "duration": 90.0, "usage": {"type": "duration", "seconds": 90}}
        return web.json_response(told)

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.spoken.append(body)
        if self.status != 200:
            return _refusal(self.status, "no voice today")
        text, voice, form = body.get("input"), body.get("voice"), body.get("response_format", "mp3")
        if not text or len(text) > SPOKEN_MAX_CHARS:
            return _refusal(400, f"Input should have 1 to {SPOKEN_MAX_CHARS} characters.")
        if voice not in VOICES or form not in SOUNDS:
            return _refusal(400, f"Input should be one of {', '.join(VOICES)}.")
        match self.answers:
            case "page":
                return web.Response(text="<html>Sign in first.</html>", content_type="text/html")
            case "nothing":
                return web.Response(body=b"", content_type="audio/mpeg")
            case "silence":
                await asyncio.sleep(3_600)
            case "endless" | "bomb":
                return await self._endless(request, is_packed=self.answers == "bomb")
            case "":
                pass
        return web.Response(body=sound(form, text), content_type=SOUNDS[form][1])

    async def _endless(self, request: web.Request, *, is_packed: bool) -> web.StreamResponse:
        """Far more than anybody asked for, a MiB at a time; packed it is small on the wire."""
        answer = web.StreamResponse(headers={"Content-Type": "audio/mpeg"})
        if is_packed:
            answer.headers["Content-Encoding"] = "gzip"
        await answer.prepare(request)
        packer = zlib.compressobj(1, wbits=31)
        for _ in range(ENDLESS_MIB):
            if request.transport is None or request.transport.is_closing():
                break
            with suppress(ConnectionError):
                await answer.write(packer.compress(ZEROS) + packer.flush(zlib.Z_SYNC_FLUSH) if is_packed else ZEROS)
            await asyncio.sleep(0)
        return answer


def _refusal(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "code": None}
    return web.json_response({"error": error}, status=status)


def main() -> None:
    parser = argparse.ArgumentParser(description="OpenAI's pictures and recordings, without a model.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve_until_told(MediaServer().app(), parser.parse_args().port))


if __name__ == "__main__":
    main()
