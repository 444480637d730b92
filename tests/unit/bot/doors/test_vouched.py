"""Callers whom a provider vouches for, beside those with tokens of ours."""

from __future__ import annotations

import pytest

from bot.auth.bearers import spoken_for
from bot.doors.a2a.pushes import must_outlast
from bot.doors.a2a.wire import A2aError
from bot.doors.callers import Caller
from runtime.contract import Identity, Person, PersonId, Role
from runtime.domain.programs.token import ProgramToken


async def _still() -> tuple[ProgramToken, Person]:
    raise NotImplementedError("nobody goes on here")


@pytest.mark.parametrize("identity", ["oidc:ada-1", "auth:ada"])
def test_nobody_is_told_later_whom_only_a_provider_vouches_for(identity: str) -> None:
    ada = Person(PersonId("1"), "Ada", Role.USER)
    with pytest.raises(A2aError, match="Follow the task instead"):
        must_outlast(Caller(spoken_for(Identity(identity), Role.USER), ada, _still))
    must_outlast(Caller(ProgramToken(name="ci", role=Role.USER), ada, _still))
