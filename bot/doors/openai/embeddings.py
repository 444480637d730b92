"""Embeddings by the model of the settings, paid from the budgets of whoever asks."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from bot.doors.conversing import Conversing
from bot.doors.table import Asked
from bot.operator.context import OperatorContext
from runtime.contract.memory.embedding import TEXTS_MOST, Embedder
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ModelFailed
from runtime.http.errors import Refusal
from runtime.vectors.near import BACKGROUND

NO_EMBEDDER: Final = "No model for embeddings is set. Name one in the settings, under [embeddings]."
OTHER_EMBEDDER: Final = "There is no model {name!r} for embeddings here. There is: {own}."
BAD_INPUT: Final = f"`input` is a text, or a list of at most {TEXTS_MOST} texts. Tokens aren't taken."
SPENT: Final = "The budget for this is spent for now."


class EmbeddingBody(BaseModel):
    model_config = ConfigDict(extra="allow")

    input: Any
    model: str = ""
    encoding_format: str = "float"


class EmbeddingDoor:
    def __init__(self, context: OperatorContext, conversing: Conversing) -> None:
        self._context = context
        self._conversing = conversing

    async def embed(self, asked: Asked) -> web.Response:
        body = await asked.body(EmbeddingBody)
        embedder, texts = self._embedder(body.model), _texts(body.input)
        payer = (
            asked.caller.token.agents[0] if asked.caller.token.agents else MAIN,
            BACKGROUND,
            asked.caller.person.id,
        )
        costs = self._context.store.embedding_costs
        if not await costs.affords(*payer):
            raise Refusal(429, SPENT)
        try:
            made = await embedder.embed(texts)
        except ModelFailed as error:
            raise Refusal(502, str(error)) from error
        await costs.charge(*payer, made.usage)
        data = [
            {"object": "embedding", "index": number, "embedding": _written(vector, body.encoding_format)}
            for number, vector in enumerate(made.vectors)
        ]
        used = {"prompt_tokens": made.usage.input_tokens, "total_tokens": made.usage.input_tokens}
        return web.json_response({"object": "list", "data": data, "model": embedder.name, "usage": used})

    def _embedder(self, name: str) -> Embedder:
        meaning = self._context.meaning
        embedder = meaning.embedder if meaning else None
        if embedder is None:
            raise Refusal(404, NO_EMBEDDER)
        if name not in ("", "signalbox", embedder.name):
            raise Refusal(404, OTHER_EMBEDDER.format(name=name, own=embedder.name))
        return embedder


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    is_list = isinstance(texts, list) and 1 <= len(texts) <= TEXTS_MOST
    if not is_list or not all(isinstance(one, str) and one for one in texts):
        raise Refusal(400, BAD_INPUT)
    return list(texts)


def _written(vector: Sequence[float], form: str) -> list[float] | str:
    """A list of numbers, or as clients ask for it by themselves: float32 in base64."""
    if form != "base64":
        return list(vector)
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
