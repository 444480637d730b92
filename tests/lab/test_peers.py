"""Peers misbehave: models that hang, drip, break off or are busy for an hour, and platforms that are slow or confused.

Who asked is told, all others go on, and `/readyz` says what is true.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from tests.contract.adapters.rig import Place, Skill, Trouble
from tests.faults.program import until
from tests.faults.stage import PLATFORMS
from tests.lab.meddling import Meddle, meddled, repeated, turned, with_nulls
from tests.lab.stage import Lab, lab

pytestmark = [pytest.mark.soak, pytest.mark.timeout(240)]

HOUR: Final = 3600
MODEL_SECONDS: Final = 6
"""A model is waited for so long here; two minutes are usual."""
TOLD_WITHIN: Final = 60.0  # seconds until who asked reads of it: a request is repeated twice
BUSY: Final = 3  # so many times as long on a busy machine
SLOW: Final = 20.0  # seconds that a slow platform holds each side: its answers take forty
SLOW_FOR: Final = 50.0

REPLIES: Final[Mapping[str, dict[str, Any]]] = {
    "hangs": {"text": "never", "delay": HOUR},
    "drips": {"text": "a piece each second, for an hour. " * 1000, "delay": 1, "slow": True},
    "breaks": {"text": "this answer breaks off in the middle of it", "cut": 3},
    "rubbish": {"text": "this answer has a piece that is none", "instead": {3: "data: {nothing\n\n"}},
    "busy": {"status": 429, "retry_after": str(HOUR), "text": "Rate limit reached."},
    "ends": {"text": "this answer has no end", "finish": None, "done": False},
}


def waits(seconds: float) -> dict[str, Any]:
    return {"model.timeout_seconds": seconds}


async def script(on: Lab, *replies: Mapping[str, Any]) -> None:
    async with aiohttp.ClientSession() as http, http.post(f"{on.model}/script", json=list(replies)) as answer:
        answer.raise_for_status()


async def texts(on: Lab, place: Place) -> list[str]:
    return [message.text for message in await on.rig_of(place).visible(place)]


@pytest.mark.parametrize("how", REPLIES)
async def test_a_model_that_misbehaves_is_told_where_it_was_asked_and_others_go_on(
    tmp_path: Path, how: str, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, None, model=True, **waits(MODEL_SECONDS)) as on:
        (node,) = on.nodes
        await node.until_ready()
        ill, *well = on.rig.places(4)
        await on.answered(well[0])
        before = len(await texts(on, ill))
        await script(on, *[REPLIES[how]] * 9)
        began = time.monotonic()
        await on.rig.say(ill, "what now")

        async def is_asked() -> bool | None:
            async with aiohttp.ClientSession() as http, http.get(f"{on.model}/requests") as answer:
                return any("what now" in json.dumps(one) for one in await answer.json()) or None

        await until(is_asked, "a request")
        assert (await node.health()).ready == 200

        async def is_told() -> str | None:
            found = await texts(on, ill)
            return found[-1] if len(found) > before and not (await unfinished(on)) else None

        words = await until(is_told, f"a word for who asked\n{node.log()}", TOLD_WITHIN * BUSY)
        took = time.monotonic() - began
        await script_ends(on)
        for place in well:
            await on.answered(place)
        assert (await node.health()).ready == 200
        await on.judged()
    tell(f"{how}: told after {took:.1f} s: {words!r}")


async def unfinished(on: Lab) -> bool:
    return bool(await on.select("SELECT id FROM runs WHERE state IN ('ready', 'running')"))


async def script_ends(on: Lab) -> None:
    """Use up the replies that nobody asked for."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1)) as http:
        for _ in range(12):
            body = {"model": "mock", "messages": [{"role": "user", "content": "end"}]}
            try:
                async with http.post(f"{on.model}/v1/chat/completions", json=body) as answer:
                    if "You said: end" in await answer.text():
                        return
            except (aiohttp.ClientError, TimeoutError):
                continue


async def test_a_model_that_hangs_in_one_room_holds_up_no_other(tmp_path: Path) -> None:
    async with lab(tmp_path, None, model=True, **waits(60)) as on:
        (node,) = on.nodes
        await node.until_ready()
        ill, *well = on.rig.places(6)
        await on.answered(well[0])
        await script(on, REPLIES["hangs"])
        await on.rig.say(ill, "what now")
        await on.until_at_work()
        await asyncio.gather(*[on.answered(place) for place in well])
        assert await unfinished(on)
        assert (await node.health()).ready == 200
        end = await node.leave()
        assert end["code"] == 0
        assert end["seconds"] < 10 * 2


# ------------------------------------------------------------------------------------------------------- platforms


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_platform_that_answers_after_forty_seconds_shows_each_answer_once(
    tmp_path: Path, platform: str
) -> None:
    async with lab(tmp_path, None, platform=platform) as on:
        (node,) = on.nodes
        await node.until_ready()
        direct, apart = on.rig.rooms().direct, on.rig.rooms().apart
        assert apart
        await on.answered(direct)
        await on.answered(apart)
        node.platform.delay(SLOW)
        tokens = [(place, await on.say(place)) for place in (direct, apart)]
        await asyncio.sleep(SLOW_FOR)
        assert (await node.health()).ready == 503, "nobody is answered by it"
        node.platform.lift()
        for place, token in tokens:
            await on.until_shown(place, token, 90)
        await node.until_ready()
        await on.judged()


@pytest.mark.parametrize("meddle", [repeated, turned, with_nulls])
async def test_events_that_come_twice_turned_round_or_without_ids_break_nothing(tmp_path: Path, meddle: Meddle) -> None:
    """Turned round, what was said in one batch has the order in which it came."""
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await node.until_ready()
        real = dict(on.rig.settings())["api_base_url"]
        async with meddled(real, meddle) as url:
            await node.leave()
            accounts = next(one for one in node.arguments if one.startswith("--set=accounts="))
            past = f"127.0.0.1:{node.platform.port}"
            node.arguments.append(accounts.replace(f"http://{past}", url))
            await node.start()
            await node.until_ready()
            places = on.rig.places(6)
            for _ in range(3):
                said = [(place, await on.say(place)) for place in places]
                for place, token in said:
                    await on.until_shown(place, token)
            assert '"level":"error"' not in node.log()
            assert (await node.health()).ready == 200
            await on.judged()


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_platform_that_repeats_and_drops_is_answered_once(tmp_path: Path, platform: str) -> None:
    async with lab(tmp_path, None, platform=platform) as on:
        (node,) = on.nodes
        await node.until_ready()
        places = on.rig.places(4)
        for place in places:
            await on.answered(place)
        for _ in range(4):
            said = []
            for place in places:
                event = await on.rig.say(place, f"good day {place}")
                if Skill.AGAIN not in on.rig.lacks:
                    await on.rig.again(event)
                said.append((place, await on.say(place)))
            if Skill.SOCKET not in on.rig.lacks:
                await on.rig.fault(Trouble.DROPPED)
            for place, token in said:
                await on.until_shown(place, token)
        ((signals,),) = await on.select("SELECT count(*) FROM signals WHERE kind = 'said'")
        assert signals == len(places) * (1 + 2 * 4)
        await on.judged()


@pytest.mark.parametrize("last_ids", ["null", "stale", "dangling"])
async def test_a_gateway_that_tells_no_true_newest_id_loses_nothing_that_was_said_meanwhile(
    tmp_path: Path, last_ids: str
) -> None:
    """What was said while the process was away is read from rooms in which something was heard before."""
    async with lab(tmp_path, None, platform="discord") as on:
        (node,) = on.nodes
        await node.until_ready()
        places = on.rig.places(4)
        for place in places:
            await on.answered(place)
        await node.leave()
        async with aiohttp.ClientSession() as http:
            url = dict(on.rig.settings())["api_base_url"].removesuffix("/api/v10")
            async with http.post(f"{url}/faults", json={"last_ids": last_ids}) as answer:
                answer.raise_for_status()
        said = [(place, await on.say(place)) for place in places]
        await node.start()
        for place, token in said:
            await on.until_shown(place, token)
        await on.judged()
