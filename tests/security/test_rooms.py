"""Who reads and writes in which room of the page: unowned, named by the settings, reported to, hooked, claimed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from runtime.contract import Role
from tests.e2e.visitor import until
from tests.security.running import SECRET, Running, running
from tests.security.tally import Tallied, Tally

VIEWS: Final = ("timeline", "files", "files/a.txt", "events")
NAMED: Final = ("alarms", "deploys", "mornings", "beating")
BELOW: Final = ("viewer", "user", "guest")
ABOVE: Final = ("operator", "owner")


async def read(house: Running, room: str, view: str, who: str) -> int:
    return (await house.ask("GET", f"/api/rooms/{room}/{view}", who)).status


async def shut(house: Running, count: Tally, room: str, *who: str) -> None:
    for one in who:
        for view in VIEWS:
            count.case(await read(house, room, view, one) == 404, f"{one} reads {view} of {room}")
        said = (await house.say(room, one)).status
        count.case(said == 404, f"{one} speaks in {room}: {said}")
        stopped = await house.ask("POST", f"/api/rooms/{room}/stop", one, {"id": "event-stop1"})
        count.case(stopped.status == 404, f"{one} stops {room}")
        listed = await house.ask("GET", "/api/v1/rooms", one)
        count.case(room not in listed.text, f"{one} has {room} in the list")


async def open_to(house: Running, count: Tally, room: str, *who: str) -> None:
    for one in who:
        count.case(await read(house, room, "timeline", one) == 200, f"{one} reads {room}")


async def test_a_room_shows_itself_to_its_owner_and_to_operators_alone(tmp_path: Path, tallied: Tallied) -> None:
    async with running(tmp_path) as house:
        await house.add("guest", Role.USER)
        count = tallied("rooms", 120)
        await unowned(house, count)
        await claimed(house, count)
        await named(house, count)
        await reported(house, count)
        count.close()


async def test_who_was_merged_keeps_reading_what_was_theirs(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.add("guest", Role.USER)
        assert (await house.say("guests01", "guest")).status == 202
        assert await read(house, "guests01", "timeline", "guest") == 200
        assert await read(house, "guests01", "timeline", "user") == 404
        merged = await house.ask("POST", "/console/api/people/guest/merge", "holder", {"into": "user"})
        assert merged.status == 200
        assert await read(house, "guests01", "timeline", "user") == 200
        assert await read(house, "guests01", "timeline", "guest") == 401
        assert await read(house, "guests01", "timeline", "viewer") == 404


async def unowned(house: Running, count: Tally) -> None:
    for one in BELOW:
        for view in VIEWS:
            count.case(await read(house, "nobodys1", view, one) == 404, f"{one} reads {view} of no room")
        stopped = await house.ask("POST", "/api/rooms/nobodys1/stop", one, {"id": "event-stop1"})
        count.case(stopped.status == 404, f"{one} stops no room")
    count.case((await house.say("nobodys1", "viewer")).status == 403, "a viewer begins none")
    await open_to(house, count, "nobodys1", *ABOVE)


async def claimed(house: Running, count: Tally) -> None:
    count.case((await house.say("guests01", "guest")).status == 202, "the first sender begins it")
    await open_to(house, count, "guests01", "guest", *ABOVE)
    await shut(house, count, "guests01", "viewer", "user")
    count.case((await house.say("theirs01", "operator")).status == 202, "an operator begins one")
    await shut(house, count, "theirs01", *BELOW)


async def named(house: Running, count: Tally) -> None:
    for room in NAMED:
        await shut(house, count, room, *BELOW)
        await open_to(house, count, room, *ABOVE)
    hooked = await house.ask("POST", "/hooks/deploys", "nobody", {"result": "secret"}, X_Signalbox_Token=SECRET)
    count.case(hooked.status == 202, "the hook is heard")
    await shut(house, count, "deploys", *BELOW)
    count.case((await house.say("deploys", "operator")).status == 202, "an operator speaks there")
    await house.api.set_role("operator", "user")
    await shut(house, count, "deploys", "operator")
    await house.api.set_role("operator", "operator")


async def reported(house: Running, count: Tally) -> None:
    asked = {"name": "outbox", "to": ["web:main/unopened"]}
    refused = await house.ask("POST", "/console/api/reports", "holder", {**asked, "name": await a_report(house)})
    count.case(
        refused.status == 409 and "no such conversation" in refused.text, f"a report to no room: {refused.status}"
    )
    made = await house.ask(
        "POST", "/console/api/reports", "holder", {"name": await a_report(house), "to": ["web:main/mornings"]}
    )
    count.case(made.status == 200, f"a report to a named room: {made.status}")

    async def is_shown() -> bool | None:
        told = await house.ask("GET", "/api/rooms/mornings/timeline", "owner")
        return True if json.loads(told.text)["entries"] else None

    await until(is_shown, "the report")
    await shut(house, count, "mornings", *BELOW)


async def a_report(house: Running) -> str:
    return str((await house.api.reports())[0]["name"])
