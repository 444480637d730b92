"""Entrance of operators: by their cookie, behind a proxy with a password too, and by the control token alone."""

from __future__ import annotations

from typing import Any, cast

import pytest
from aiohttp.test_utils import make_mocked_request

from bot.http.entrance import Entrance
from runtime.contract import Role
from runtime.http.errors import Refusal
from tests.unit.bot.doors.stage import DoorStage


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ({}, 0),
        ({"Authorization": "Basic YTpi"}, 0),
        ({"Authorization": "Bearer guessed"}, 401),
        ({"Authorization": "bearer control"}, 401),
        ({"Authorization": ""}, 401),
    ],
)
async def test_the_password_of_a_proxy_is_no_token_and_no_cookie_saves_a_refused_one(
    shown: dict[str, str], status: int
) -> None:
    stage = DoorStage()
    context = stage.context()
    cast(Any, context.store).people = None
    headers = {**stage.cookie(stage.links.add("Otto", Role.OPERATOR)), **shown}
    asked = Entrance(context).actor(make_mocked_request("GET", "/console/api/runs", headers))
    if status:
        with pytest.raises(Refusal) as refused:
            await asked
        assert refused.value.status == status
    else:
        assert (await asked).name == "Otto"
