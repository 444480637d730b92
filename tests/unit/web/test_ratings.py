"""Thumbs under the agent's answers, as the page gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.contract import Identity, Reaction, Role
from tests.unit.web.stage import ADAS_ROOM, served

FEEDBACK = f"/api/rooms/{ADAS_ROOM}/feedback"
ADA = Identity("web:main/ada")


async def test_a_rating_is_given_changed_and_taken_away(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        for value, words in (("up", ""), ("down", "  too long "), ("none", "")):
            body = {"entry": "d1.1", "value": value, "words": words}
            async with client.post(FEEDBACK, json=body) as answer:
                assert (answer.status, await answer.json()) == (200, {"value": value})
        room = stage.address(ADAS_ROOM)
        assert stage.ratings.taken == [
            Reaction(room, ADA, added=("👍",), removed=("👎",), delivery="d1"),
            Reaction(room, ADA, added=("👎",), removed=("👍",), delivery="d1", words="too long"),
            Reaction(room, ADA, removed=("👍", "👎"), delivery="d1"),
        ]
        async with client.get(FEEDBACK) as answer:
            assert await answer.json() == {"ratings": {"d1": "down"}}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"entry": "gone.1", "value": "up"}, 404),
        ({"entry": "d1.1", "value": "sideways"}, 400),
        ({"entry": 7, "value": "up"}, 400),
        ({"entry": "d1.1", "value": ["up"]}, 400),
        ({"entry": "d1.1", "value": "up", "words": "x" * 1_001}, 400),
    ],
)
async def test_what_is_no_rating_is_refused_with_words(tmp_path: Path, body: dict[str, Any], status: int) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.USER)) as client,
        client.post(FEEDBACK, json=body) as answer,
    ):
        assert answer.status == status
        assert (await answer.json())["error"]


async def test_nobody_rates_in_a_room_of_others(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Eve", Role.USER)) as client:
        async with client.post(FEEDBACK, json={"entry": "d1.1", "value": "up"}) as answer:
            assert answer.status == 404
        assert stage.ratings.taken == []
