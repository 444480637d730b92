"""What the bare handlers share: one question to the model, streamed or whole. Nothing is kept."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

CARD: Final = "write "
"""A message with this is answered by a card with a button instead of the model's words."""

Model = Callable[[str], Awaitable[str]]


def model(api_base: str, *, stream: bool) -> Model:
    """Asks the mock model at `api_base`."""

    async def ask(text: str) -> str:
        answer = await litellm.acompletion(
            model="openai/mock",
            api_base=api_base,
            api_key="none",
            messages=[{"role": "user", "content": text}],
            stream=stream,
        )
        return await _joined(answer) if stream else str(answer.choices[0].message.content)

    return ask


async def _joined(answer: Any) -> str:
    return "".join([chunk.choices[0].delta.content or "" async for chunk in answer if chunk.choices])


def given() -> tuple[Model, dict[str, Any]]:
    """From the command line: the model to ask, and the account of a platform."""
    parser = argparse.ArgumentParser(description="A bare handler.")
    parser.add_argument("--api-base", required=True)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--account", type=json.loads, default={}, help="a table of [[accounts]] as JSON")
    chosen = parser.parse_args()
    return model(chosen.api_base, stream=chosen.stream), chosen.account
