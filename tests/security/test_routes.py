"""Each route of the router with each kind of visitor, as `routes.py` says; a route that nobody thought about there fails."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.security.routes import DOOR, ELSEWHERE, REST, ROLES, TABLE, declared
from tests.security.running import Running, running
from tests.security.tally import Tallied, Tally

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BODIES: Final[Mapping[str, object]] = {
    "POST /console/api/tokens": {"name": "No Name"},
    "POST /console/api/people": {"name": "new", "role": "nonsense"},
    "POST /console/api/people/{id}/role": {"role": "user"},
    "POST /console/api/pairings": {"code": "ABCD2345"},
    "POST /console/api/people/{id}/rename": {"new": "newer"},
    "POST /console/api/people/{id}/end-session": {"session": "nothing1"},
    "POST /console/api/people/{id}/merge": {"into": "user"},
}
ALSO: Final = {"GET /console/api/reports/text": "GET /console/api/reports/{id}"}
"""A path of one route that another answers to other methods."""
SHUT: Final = (401, 403, 421)
USERS_ROOM: Final = "mine0001"


def routes(house: Running) -> dict[str, str]:
    """Method and path as the router has them, with a path to ask for. HEAD is GET without a body."""
    found = {}
    for route in house.app.http.site.router.routes():
        assert route.resource is not None
        if route.method != "HEAD":
            path = route.resource.canonical
            found[f"{route.method} {path}"] = path.format(
                room=USERS_ROOM,
                version="v1",
                name="deploys",
                token="wrong",
                path="a.txt",
                approval="a" * 20,
                id="nothing1",
            )
    return found


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
async def test_each_route_lets_in_whom_it_should_and_nobody_else(tmp_path: Path, tallied: Tallied) -> None:
    async with running(tmp_path) as house:
        there = routes(house)
        assert set(there) == set(TABLE), "say in TABLE who may use a new route"
        assert set(there) == declared() - set(ELSEWHERE), "what `make check` reads is what the router has"
        assert (await house.say(USERS_ROOM, "user")).status == 202
        count = tallied("routes x roles x methods", 1_200)
        cases = [*itertools.product(there, ROLES, ["its own"]), *itertools.product(there, ("nobody", "user"), METHODS)]
        tried: set[tuple[str, str, str, bool]] = set()
        for route, role, method in cases:
            own = route.partition(" ")[0]
            asked = method if method != "its own" else "GET" if own == "*" else own
            attempted = (asked, there[route], role, asked == "POST" and route in BODIES)
            if attempted not in tried:  # two routes of one path have the same other methods
                tried.add(attempted)
                await attempt(house, count, there, route, role, asked)
        count.close()


async def attempt(house: Running, count: Tally, there: Mapping[str, str], route: str, role: str, asked: str) -> None:
    own = route.partition(" ")[0]
    answer = await house.ask(asked, there[route], role, BODIES.get(route, {}) if asked == "POST" else None)
    what = f"{asked} {there[route]} as {role}: {answer.status}"
    key = f"{'GET' if asked == 'HEAD' else asked} {route.partition(' ')[2]}"
    key = ALSO.get(key, key)
    if own == "*" and TABLE[route] == DOOR:
        count.case(answer.status == 401, what)
    elif own == "*" and TABLE[route] == REST:
        count.case(answer.status == REST.get(role, 404), what)
    elif own == "*":
        count.case(answer.status == (401 if asked == "POST" else 405), what)
    elif key not in there:
        count.case(answer.status == 405, what)
    elif asked == "HEAD":
        count.case(answer.status in (405, TABLE[key].get(role, answer.status)) and answer.status < 500, what)
    else:
        wanted = TABLE[key].get(role)
        let_in = answer.status not in SHUT and answer.status < 500
        count.case(answer.status == wanted if wanted else let_in, what)
