"""Each door of programs with each kind of token, and with what no client should send: never let in wrongly, never broken."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bot.doors.house import declared_doors
from bot.doors.table import Door
from runtime.contract import Role
from tests.security.running import Running, running
from tests.security.tally import Tallied, Tally

HOLDERS: Final = ("nobody", "stranger", "user", "operator", "narrow", "person")
OUTSIDE: Final = ("nobody", "stranger")
BODIES: Final[Mapping[str, bytes]] = {
    "an object": b"{}",
    "no JSON": b"{",
    "a list": b"[]",
    "no Unicode": b"\xff\xfe",
    "strange values": json.dumps(
        {name: [None, {}] for name in ("text", "name", "choice", "to", "limit", "input", "messages")}
    ).encode(),
}
DOCUMENTED_OF_OPENAI: Final = {200, 400, 401, 403, 404, 409, 413, 415, 422, 429, 502, 503}


async def test_each_door_lets_in_whom_it_should_and_answers_whatever_comes(tmp_path: Path, tallied: Tallied) -> None:
    async with running(tmp_path) as house:
        ways = await holders(house)
        doors, document = declared_doors(), await opened(house)
        count = tallied("doors x tokens x bodies", 700)
        for door in doors:
            statuses = documented(document, door)
            for holder in HOLDERS:
                await attempt(house, count, door, statuses, holder, ways[holder])
        await too_large(house, count, ways["user"])
        count.close()


async def holders(house: Running) -> dict[str, dict[str, str]]:
    tokens = {"stranger": "sbx_guessed"}
    for name, role, rooms in (("user", "user", []), ("operator", "operator", []), ("narrow", "operator", ["builds"])):
        made = await house.api.make_token(name, role, rooms=rooms, per_minute="6000")
        tokens[name] = made["token"]
    person = {**house.ways["user"], "Origin": house.url, "X-Signalbox": "1"}
    return {
        "nobody": {},
        "person": person,
        **{name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()},
    }


async def opened(house: Running) -> Any:
    async with house.session.get(f"{house.url}/api/v1/openapi.json") as answer:
        return await answer.json()


def documented(document: Any, door: Door) -> set[int]:
    told = document["paths"].get(door.path.replace("+}", "}"), {}).get(door.method.lower())
    return {int(status) for status in told["responses"]} if told else DOCUMENTED_OF_OPENAI


async def attempt(
    house: Running, count: Tally, door: Door, statuses: set[int], holder: str, headers: dict[str, str]
) -> None:
    for what, body in BODIES.items() if door.method == "POST" else [("no body", b"")]:
        status, words = await asked(house, door, headers, body, "application/json")
        case = f"{door.method} {door.path} as {holder} with {what}: {status} {words[:80]}"
        if holder in OUTSIDE or (holder == "person" and not door.path.startswith("/api/v1/")):
            count.case(status == 401, case)
        elif holder in ("user", "person") and door.role > Role.USER:
            count.case(status == 403, case)
        else:
            count.case(status in statuses and status not in (401, 500), case)
    if door.body is not None and holder in ("user", "operator"):
        status, _ = await asked(house, door, headers, b"{}", "text/plain")
        count.case(status in (403, 415), f"{door.method} {door.path} as {holder} in plain text: {status}")


async def asked(house: Running, door: Door, headers: dict[str, str], body: bytes, kind: str) -> tuple[int, str]:
    path = door.path.replace("{room}", "builds").replace("{id}", "nothing1").replace("{model}", "nothing")
    path = path.replace("{path+}", "a.txt")
    given = {**headers, **({"Content-Type": kind} if door.method == "POST" else {})}
    async with (
        asyncio.timeout(20),
        house.session.request(door.method, house.url + path, headers=given, data=body or None) as answer,
    ):
        words = await answer.text()
        if answer.status >= 400:
            assert isinstance(json.loads(words), dict), words
        return answer.status, words


async def too_large(house: Running, count: Tally, headers: dict[str, str]) -> None:
    given = {**headers, "Content-Type": "application/json"}
    path = f"{house.url}/api/v1/rooms/builds/messages"
    async with house.session.post(path, headers=given, data=io.BytesIO(b"x" * 1_100_000)) as answer:
        count.case(answer.status == 413, f"1.1 MB: {answer.status}")
