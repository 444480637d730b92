"""Each route of the router with each kind of visitor; a route that nobody thought about here fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.security.running import Running, running
from tests.security.tally import Tally

Tallied = Callable[[str, int], Tally]

ROLES: Final = ("nobody", "stranger", "viewer", "user", "operator", "owner", "holder")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNKNOWN: Final = ("nobody", "stranger")
BELOW: Final = ("viewer", "user")

# Statuses by kind of route: what each role meets; anything else is "let in", which is no 401, 403, 421 and no fault of ours.
Rights = Mapping[str, int]
OPEN: Final[Rights] = {}
KNOWN: Final[Rights] = {"nobody": 401, "stranger": 401, "holder": 401}
ROOM: Final[Rights] = {**KNOWN, "viewer": 404}
WRITE: Final[Rights] = {**KNOWN, "viewer": 404}
LINK: Final[Rights] = dict.fromkeys(ROLES, 401)
CONSOLE: Final[Rights] = {"nobody": 401, "stranger": 401, "viewer": 403, "user": 403}
OWNER: Final[Rights] = {**CONSOLE, "operator": 403}

TABLE: Final[Mapping[str, Rights]] = {
    "GET /": KNOWN,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": dict.fromkeys(ROLES, 403),
    "GET /static/{name}": OPEN,
    "GET /console/static/{name}": OPEN,
    "GET /link/{token}": LINK,
    "POST /link/{token}": LINK,
    "* /hooks/{name}": dict.fromkeys(ROLES, 405),
    "GET /api/inbox": KNOWN,
    "GET /api/inbox/events": KNOWN,
    "GET /api/me": KNOWN,
    "GET /api/rooms": KNOWN,
    "GET /api/rooms/{room}/events": ROOM,
    "GET /api/rooms/{room}/files": ROOM,
    "GET /api/rooms/{room}/files/{path}": ROOM,
    "GET /api/rooms/{room}/timeline": ROOM,
    "POST /api/rooms/{room}/files": WRITE,
    "POST /api/rooms/{room}/messages": WRITE,
    "POST /api/rooms/{room}/stop": WRITE,
    "POST /api/approvals/{approval}": KNOWN,
    "GET /api/approvals/{approval}/form": KNOWN,
    "POST /console/api/people": OWNER,
    "POST /console/api/people/{id}/link": OWNER,
    "POST /console/api/people/{id}/role": OWNER,
    "POST /console/api/people/{id}/merge": OWNER,
    "POST /console/api/people/{id}/remove": OWNER,
    "POST /console/api/people/{id}/rename": OWNER,
    "POST /console/api/people/{id}/sign-out": OWNER,
    "POST /console/api/pairings": OWNER,
    "POST /console/api/reload": OWNER,
    "POST /console/api/save": OWNER,
    "POST /console/api/guard/scan": OWNER,
    "POST /console/api/guard/scanned": OWNER,
    **dict.fromkeys(
        [
            "GET /console/api/approvals",
            "GET /console/api/approvals/{id}",
            "POST /console/api/approvals/{id}",
            "POST /console/api/approvals/{id}/ask",
            "POST /console/api/approvals/{id}/edit",
            "POST /console/api/approvals/{id}/always",
            "GET /console/api/grants",
            "GET /console/api/grants/{id}",
            "POST /console/api/grants/{id}/revoke",
            "GET /console/api/modes",
            "GET /console/api/budgets",
            "POST /console/api/modes",
            "GET /console/grants",
            "GET /console/api/models",
            "GET /console/api/models/{id}",
            "GET /console/api/cooldowns",
            "POST /console/api/cooldowns/{id}/clear",
            "GET /console/models",
            "GET /console/api/audit",
            "GET /console/api/context",
            "GET /console/api/prompt",
            "GET /console/api/deliveries",
            "GET /console/api/deliveries/{id}",
            "POST /console/api/deliveries/{id}/discard",
            "POST /console/api/deliveries/{id}/requeue",
            "GET /console/api/overview",
            "GET /console/api/pairings",
            "GET /console/api/people",
            "GET /console/api/reports",
            "POST /console/api/reports",
            "POST /console/api/reports/text",
            "GET /console/api/reports/{id}",
            "GET /console/api/reach",
            "POST /console/api/rooms/{id}/messages",
            "GET /console/api/rooms/{id}/timeline",
            "GET /console/api/rooms/{id}/wait",
            "GET /console/api/runs",
            "GET /console/api/runs/{id}",
            "GET /console/api/schedules",
            "POST /console/api/schedules",
            "GET /console/api/schedules/{id}",
            "POST /console/api/schedules/{id}",
            "GET /console/api/schedules/{id}/history",
            "POST /console/api/schedules/{id}/pause",
            "POST /console/api/schedules/{id}/remove",
            "POST /console/api/schedules/{id}/resume",
            "POST /console/api/schedules/{id}/run",
            "GET /console/api/tasks",
            "GET /console/api/tasks/{id}",
            "POST /console/api/tasks/{id}/drop",
            "POST /console/api/tasks/{id}/retry",
            "GET /console/api/trace",
            "GET /console/api/trace/{id}",
            "GET /console",
            "GET /console/",
            "GET /console/approvals",
            "GET /console/outbox",
            "GET /console/outbox/{id}",
            "GET /console/people",
            "GET /console/runs",
            "GET /console/runs/{id}",
            "GET /console/schedules",
            "GET /console/schedules/{id}",
            "GET /console/tasks",
            "GET /console/tasks/{id}",
            "GET /console/trace",
            "GET /console/trace/{id}",
        ],
        CONSOLE,
    ),
}
BODIES: Final[Mapping[str, object]] = {
    "POST /console/api/people": {"name": "new", "role": "nonsense"},
    "POST /console/api/people/{id}/role": {"role": "user"},
    "POST /console/api/pairings": {"code": "ABCD2345"},
    "POST /console/api/people/{id}/rename": {"new": "newer"},
    "POST /console/api/people/{id}/merge": {"into": "owner"},
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
                room=USERS_ROOM, name="deploys", token="wrong", path="a.txt", approval="a" * 20, id="nothing1"
            )
    return found


async def test_each_route_lets_in_whom_it_should_and_nobody_else(tmp_path: Path, tallied: Tallied) -> None:
    async with running(tmp_path) as house:
        there = routes(house)
        assert set(there) - set(TABLE) == set(), "say in TABLE who may use a new route"
        assert (await house.say(USERS_ROOM, "user")).status == 202
        count = tallied("routes x roles x methods", 1_200)
        cases = [*itertools.product(there, ROLES, ["its own"]), *itertools.product(there, ("nobody", "user"), METHODS)]
        for route, role, method in cases:
            await attempt(house, count, there, route, role, method)
        count.close()


async def attempt(house: Running, count: Tally, there: Mapping[str, str], route: str, role: str, method: str) -> None:
    own = route.partition(" ")[0]
    asked = method if method != "its own" else "GET" if own == "*" else own
    answer = await house.ask(asked, there[route], role, BODIES.get(route, {}) if asked == "POST" else None)
    what = f"{asked} {there[route]} as {role}: {answer.status}"
    key = f"{'GET' if asked == 'HEAD' else asked} {route.partition(' ')[2]}"
    key = ALSO.get(key, key)
    if own == "*":
        count.case(answer.status == (401 if asked == "POST" else 405), what)
    elif key not in there:
        count.case(answer.status == 405, what)
    elif asked == "HEAD":
        count.case(answer.status in (405, TABLE[key].get(role, answer.status)) and answer.status < 500, what)
    else:
        wanted = TABLE[key].get(role)
        let_in = answer.status not in SHUT and answer.status < 500
        count.case(answer.status == wanted if wanted else let_in, what)
