"""A server that speaks OpenAI's embeddings, with vectors that need no model: each word has a direction of its own.

Words of one row of `SAME` mean the same and share a direction, so that a text is near another one with none of its words. The
direction of a word comes from its hash, and so do all vectors: the same text has the same one everywhere.

    python -m tests.fakes.embeddings --port 0
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import math
import re
import struct
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

from bot.testing.serve import serve_until_told

DIMS: Final = 256
SAME: Final = (
    ("doctor", "physician", "medic"),
    ("car", "vehicle", "automobile", "van"),
    ("live", "lives", "reside", "resides", "home", "moved", "address"),
    ("sister", "sibling"),
    ("colleague", "coworker", "teammate"),
    ("job", "work", "works", "employer", "profession"),
    ("holiday", "vacation", "trip"),
    ("allergic", "allergy", "intolerant"),
    ("favourite", "favorite", "prefer", "prefers", "likes", "like"),
    ("meeting", "appointment"),
    ("pet", "dog", "puppy"),
    ("buy", "bought", "purchased", "purchase"),
    ("deadline", "due"),
    ("猫", "cat"),
)
MEANING: Final = {word: row[0] for row in SAME for word in row}
EMPTY_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are at do does for has have i in is it me my of on or the to was what when where which who with",
    )
)


def vector_of(text: str, dims: int = DIMS) -> list[float]:
    """Sum of the directions of a text's words, of length 1; of an empty text the first axis."""
    total = [0.0] * dims
    for word in _words(text):
        for at, part in enumerate(_direction(MEANING.get(word, word), dims)):
            total[at] += part
    length = math.sqrt(sum(part * part for part in total))
    return [part / length for part in total] if length else [1.0, *[0.0] * (dims - 1)]


def _words(text: str) -> Iterator[str]:
    return (word for word in re.findall(r"\w+", text.lower()) if word not in EMPTY_WORDS)


def _direction(word: str, dims: int) -> Iterator[float]:
    bits = hashlib.shake_256(word.encode()).digest(dims // 8)
    return (1.0 if bits[at // 8] >> at % 8 & 1 else -1.0 for at in range(dims))


@dataclass
class Embeddings:
    """The server. `requests` are the bodies; `dims` may change; `status` other than 200 refuses; `spoilt` takes the place of
    the first number of each vector, such as NaN; `missing` leaves out the last vector; `delay` is in seconds."""

    dims: int = DIMS
    status: int = 200
    spoilt: float | None = None
    missing: bool = False
    delay: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/embeddings", self._embed)
        return app

    async def _embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(body)
        await asyncio.sleep(self.delay)
        if self.status != 200:
            error = {"message": "no embeddings today", "type": "server_error", "code": None}
            return web.json_response({"error": error}, status=self.status)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not texts or not all(isinstance(text, str) and text for text in texts):
            error = {"message": "'$.input' is invalid.", "type": "invalid_request_error", "code": None}
            return web.json_response({"error": error}, status=400)
        rows = [self._row(at, text, body.get("encoding_format", "float")) for at, text in enumerate(texts)]
        tokens = sum(-(-len(text) // 4) for text in texts)
        told = {
            "object": "list",
            "data": rows[:-1] if self.missing else rows,
            "model": body["model"],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return web.json_response(told)

    def _row(self, at: int, text: str, form: str) -> dict[str, Any]:
        vector: Sequence[float] = vector_of(text, self.dims)
        if self.spoilt is not None:
            vector = [self.spoilt, *vector[1:]]
        written = b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() if form == "base64" else vector
        return {"object": "embedding", "index": at, "embedding": written}


def main() -> None:
    parser = argparse.ArgumentParser(description="Embeddings as OpenAI's API gives them, without a model.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve_until_told(Embeddings().app(), parser.parse_args().port))


if __name__ == "__main__":
    main()
