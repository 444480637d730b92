"""Each test runs over every rig; one that lacks what the test needs says why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.contract.adapters.catalogue import MINUTES_LONG, RIGS
from tests.contract.adapters.rig import RigMaker, Skill
from tests.contract.adapters.stage import Stage, stage_for

Opened = Callable[..., AbstractAsyncContextManager[Stage]]


LONG: Final = (pytest.mark.soak, pytest.mark.xdist_group("homeserver"))


@pytest.fixture(
    params=[pytest.param(maker, id=name, marks=LONG if name in MINUTES_LONG else ()) for name, maker in RIGS.items()]
)
def maker(request: pytest.FixtureRequest) -> RigMaker:
    made: RigMaker = request.param
    return made


@pytest.fixture
def opened(maker: RigMaker, tmp_path: Path) -> Opened:
    """`async with opened(SKILL, …) as stage`: the rig on its stage. A skip names the skill and the rig's reason."""

    @asynccontextmanager
    async def stage(*needed: Skill) -> AsyncIterator[Stage]:
        async with maker(tmp_path) as rig:
            for skill in needed:
                if skill in rig.lacks:
                    pytest.skip(f"{rig.name}: not that {skill}, since {rig.lacks[skill]}")
            yield stage_for(rig, tmp_path / "workspaces")

    return stage
