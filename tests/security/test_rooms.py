"""Who reads and writes in which room of the page: unowned, named by the settings, reported to, hooked, claimed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from runtime.contract import Role
from tests.e2e.visitor import until
from tests.security.running import SECRET, Count, Running, running

VIEWS: Final = ("timeline", "files", "files/a.txt", "events")
NAMED: Final = ("alarms", "deploys", "mornings", "beating")
BELOW: Final = ("viewer", "user", "guest")
ABOVE: Final = ("operator", "owner")


async def read(house: Running, room: str, view: str, who: str) -> int:
    return (await house.ask("GET", f"/api/rooms/{room}/{view}", who)).status


async def shut(house: Running, count: Count, room: str, *who: str) -> None:
    for one in who:
        for view in VIEWS:
            count.case(f"{one} reads {view} of {room}", await read(house, room, view, one) == 404)
        said = (await house.say(room, one)).status
        count.case(f"{one} speaks in {room}: {said}", said == 404)
        stopped = await house.ask("POST", f"/api/rooms/{room}/stop", one, {"id": "event-stop1"})
        count.case(f"{one} stops {room}", stopped.status == 404)
        listed = await house.ask("GET", "/api/rooms", one)
        count.case(f"{one} has {room} in the list", room not in listed.text)


async def open_to(house: Running, count: Count, room: str, *who: str) -> None:
    for one in who:
        count.case(f"{one} reads {room}", await read(house, room, "timeline", one) == 200)


async def test_a_room_shows_itself_to_its_owner_and_to_operators_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.add("guest", Role.USER)
        count = Count("rooms")
        await unowned(house, count)
        await claimed(house, count)
        await named(house, count)
        await reported(house, count)
        count.judge(120)


async def unowned(house: Running, count: Count) -> None:
    for one in BELOW:
        for view in VIEWS:
            count.case(f"{one} reads {view} of no room", await read(house, "nobodys1", view, one) == 404)
        stopped = await house.ask("POST", "/api/rooms/nobodys1/stop", one, {"id": "event-stop1"})
        count.case(f"{one} stops no room", stopped.status == 404)
    count.case("a viewer begins none", (await house.say("nobodys1", "viewer")).status == 403)
    await open_to(house, count, "nobodys1", *ABOVE)


async def claimed(house: Running, count: Count) -> None:
    count.case("the first sender begins it", (await house.say("guests01", "guest")).status == 202)
    await open_to(house, count, "guests01", "guest", *ABOVE)
    await shut(house, count, "guests01", "viewer", "user")
    count.case("an operator begins one", (await house.say("theirs01", "operator")).status == 202)
    await shut(house, count, "theirs01", *BELOW)


async def named(house: Running, count: Count) -> None:
    for room in NAMED:
        await shut(house, count, room, *BELOW)
        await open_to(house, count, room, *ABOVE)
    hooked = await house.ask("POST", "/hooks/deploys", "nobody", {"result": "secret"}, X_Signalbox_Token=SECRET)
    count.case("the hook is heard", hooked.status == 202)
    await shut(house, count, "deploys", *BELOW)
    count.case("an operator speaks there", (await house.say("deploys", "operator")).status == 202)
    await house.office.set_role("operator", "user")
    await shut(house, count, "deploys", "operator")
    await house.office.set_role("operator", "operator")


async def reported(house: Running, count: Count) -> None:
    asked = {"name": "outbox", "to": ["web:main/unopened"]}
    refused = await house.ask("POST", "/console/api/reports", "holder", {**asked, "name": await a_report(house)})
    count.case(
        f"a report to no room: {refused.status}", refused.status == 409 and "no such conversation" in refused.text
    )
    made = await house.ask(
        "POST", "/console/api/reports", "holder", {"name": await a_report(house), "to": ["web:main/mornings"]}
    )
    count.case(f"a report to a named room: {made.status}", made.status == 200)

    async def is_shown() -> bool | None:
        told = await house.ask("GET", "/api/rooms/mornings/timeline", "owner")
        return True if json.loads(told.text)["entries"] else None

    await until(is_shown, "the report")
    await shut(house, count, "mornings", *BELOW)


async def a_report(house: Running) -> str:
    return str((await house.office.reports())[0]["name"])
