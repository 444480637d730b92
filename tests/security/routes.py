"""Routes of the product as its source declares them, and who may use each: a new one fails `python -m tests.security.check`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from tests.security.sources import calling, texts, tree

ROLES: Final = ("nobody", "stranger", "viewer", "user", "operator", "owner", "holder")
UNKNOWN: Final = ("nobody", "stranger")
BELOW: Final = ("viewer", "user")

# Statuses by kind of route: what each role meets; anything else is "let in", which is no 401, 403, 421 and no fault of ours.
Rights = Mapping[str, int]
OPEN: Final[Rights] = {}
KNOWN: Final[Rights] = {"nobody": 401, "stranger": 401, "holder": 401}
ROOM: Final[Rights] = {**KNOWN, "viewer": 404}
WRITE: Final[Rights] = {**KNOWN, "viewer": 404}
HELD: Final[Rights] = {"nobody": 401, "stranger": 401, "viewer": 404}
"""Of a room, also for whoever holds the control token: `signalbox acp` speaks and hears there."""
DOOR: Final[Rights] = dict.fromkeys(ROLES, 401)
"""Doors of programs take tokens alone: tests/security/test_doors.py has who may do what behind them."""
REST: Final[Rights] = KNOWN
"""The REST API takes people of the page, too: they find no door of no name."""
LINK: Final[Rights] = dict.fromkeys(ROLES, 401)
CONSOLE: Final[Rights] = {"nobody": 401, "stranger": 401, "viewer": 403, "user": 403}
OWNER: Final[Rights] = {**CONSOLE, "operator": 403}
CONFIRMED: Final[Rights] = {**OWNER, "owner": 403}
"""For owners who have just shown that it is them, which none of these has."""

TABLE: Final[Mapping[str, Rights]] = {
    "GET /": KNOWN,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": dict.fromkeys(ROLES, 403),
    "GET /static/{name}": OPEN,
    "GET /static/{version}/{name}": OPEN,
    "GET /console/static/{name}": OPEN,
    "GET /link/{token}": LINK,
    "POST /link/{token}": LINK,
    "POST /sign-out": OPEN,
    "GET /join/{token}": dict.fromkeys(ROLES, 404),
    "POST /api/join/{token}": dict.fromkeys(ROLES, 400),
    "* /hooks/{name}": dict.fromkeys(ROLES, 405),
    "GET /api/inbox": KNOWN,
    "GET /api/inbox/events": KNOWN,
    "GET /api/me": KNOWN,
    "GET /me": KNOWN,
    "GET /me/data.zip": KNOWN,
    "POST /api/me/sessions/end-others": KNOWN,
    "POST /api/me/sessions/{id}/end": KNOWN,
    "POST /api/me/memories/{id}/forget": KNOWN,
    "POST /api/me/browsers/{id}/drop": KNOWN,
    "POST /api/me/zone": KNOWN,
    "POST /api/me/forget": KNOWN,
    "POST /api/me/forget/withdraw": KNOWN,
    "GET /api/push": KNOWN,
    "POST /api/push/browsers": KNOWN,
    "POST /api/push/browsers/drop": KNOWN,
    "POST /api/push/here": KNOWN,
    "GET /api/rooms/{room}/events": HELD,
    "GET /api/rooms/{room}/files": ROOM,
    "GET /api/rooms/{room}/files/{path}": ROOM,
    "GET /api/rooms/{room}/timeline": HELD,
    "GET /api/rooms/{room}/work/{id}": HELD,
    "POST /api/rooms/{room}/files": HELD,
    "POST /api/rooms/{room}/messages": HELD,
    "POST /api/rooms/{room}/stop": HELD,
    "POST /api/rooms/{room}/delete": WRITE,
    "GET /api/rooms/{room}/feedback": ROOM,
    "POST /api/rooms/{room}/feedback": WRITE,
    "POST /api/approvals/{approval}": KNOWN,
    "GET /api/approvals/{approval}/form": KNOWN,
    "POST /console/api/people": OWNER,
    "POST /console/api/rooms/{id}/bounds": CONFIRMED,
    "GET /console/people/{id}/data.zip": OWNER,
    "POST /console/api/people/{id}/link": OWNER,
    "POST /console/api/people/{id}/role": OWNER,
    "POST /console/api/people/{id}/merge": OWNER,
    "POST /console/api/people/{id}/remove": OWNER,
    "POST /console/api/people/{id}/rename": OWNER,
    "POST /console/api/people/{id}/sign-out": OWNER,
    "POST /console/api/people/{id}/forget": OWNER,
    "POST /console/api/people/{id}/export": OWNER,
    "POST /console/api/people/{id}/exported": OWNER,
    "POST /console/api/forgettings": OWNER,
    "POST /console/api/audit/export": OWNER,
    "POST /console/api/forgettings/{id}": OWNER,
    "POST /console/api/pairings": OWNER,
    "POST /console/api/pairings/{id}/accept": OWNER,
    "POST /console/api/pairings/{id}/refuse": OWNER,
    "POST /console/api/invitations": OWNER,
    "POST /console/api/invitations/{id}/revoke": OWNER,
    "POST /console/api/people/{id}/end-session": OWNER,
    "POST /console/api/tokens": OWNER,
    "POST /console/api/tokens/{id}/revoke": OWNER,
    "* /api/v1/{path}": REST,
    "* /v1/{path}": DOOR,
    "* /mcp": DOOR,
    "* /a2a": DOOR,
    "* /a2a/{path}": DOOR,
    "GET /.well-known/agent-card.json": OPEN,
    "POST /console/api/reload": OWNER,
    "POST /console/api/nodes/{id}/drain": OWNER,
    "POST /console/api/nodes/{id}/remove": OWNER,
    "POST /console/api/save": OWNER,
    "POST /console/api/settings/{id}": CONFIRMED,
    "POST /console/api/settings/{id}/try": OWNER,
    "POST /console/api/settings-edited": CONFIRMED,
    "POST /console/api/confirmation": CONFIRMED,
    "POST /console/api/secrets/{id}": CONFIRMED,
    "POST /console/api/model-keys": CONFIRMED,
    "POST /console/api/channels/{id}": CONFIRMED,
    "POST /console/api/agents/{id}/terminate": OWNER,
    "POST /console/api/skills/{id}/approve": OWNER,
    "POST /console/api/skills/{id}/remove": OWNER,
    "POST /console/api/logins/{id}": OWNER,
    "POST /console/api/logins/{id}/out": OWNER,
    "POST /console/api/guard/scan": OWNER,
    "POST /console/api/guard/scanned": OWNER,
    **dict.fromkeys(
        [
            "GET /console/agents",
            "GET /console/health",
            "GET /console/logs",
            "GET /console/support.zip",
            "GET /console/api/nodes",
            "GET /console/api/doctor",
            "POST /console/api/doctor",
            "GET /console/api/logs",
            "GET /console/api/logs/stream",
            "GET /console/api/support",
            "GET /console/people/{id}",
            "GET /console/people/{id}/merge",
            "GET /console/api/agents",
            "GET /console/api/invitations",
            "GET /console/api/people/{id}/merging",
            "GET /console/api/people/{id}/sessions",
            "GET /console/api/agents/{id}",
            "POST /console/api/agents/{id}/resume",
            "POST /console/api/agents/{id}/suspend",
            "GET /console/api/children",
            "GET /console/api/children/{id}",
            "POST /console/api/children/{id}/stop",
            "GET /console/api/logins",
            "GET /console/api/triggers",
            "GET /console/api/events",
            "GET /console/api/events/stream",
            "GET /console/api/event-sinks",
            "GET /console/api/runs/{id}/events",
            "GET /console/api/checkpoints",
            "GET /console/api/feedback",
            "GET /console/events",
            "GET /console/feedback",
            "POST /console/api/triggers/{id}/resume",
            "POST /console/api/triggers/{id}/pause",
            "GET /console/api/hands",
            "GET /console/api/goals",
            "GET /console/api/goals/{id}",
            "POST /console/api/goals/{id}/stop",
            "GET /console/goals",
            "GET /console/goals/{id}",
            "GET /console/triggers",
            "POST /console/api/triggers/{id}/end",
            "GET /console/api/workflows",
            "GET /console/api/workflows/{id}",
            "POST /console/api/workflows/{id}/start",
            "GET /console/api/workflow-runs",
            "GET /console/api/workflow-runs/{id}",
            "POST /console/api/workflow-runs/{id}/cancel",
            "POST /console/api/workflow-runs/{id}/resume",
            "GET /console/api/harness",
            "GET /console/api/harness/{id}",
            "POST /console/api/harness-plans",
            "POST /console/api/harness",
            "POST /console/api/harness/{id}/resume",
            "GET /console/workflows",
            "GET /console/workflows/{id}",
            "GET /console/api/memories",
            "GET /console/api/memories/counts",
            "POST /console/api/memories",
            "GET /console/api/memories/{id}",
            "POST /console/api/memories/{id}/accept",
            "POST /console/api/memories/{id}/delete",
            "GET /console/api/tasks",
            "GET /console/api/tasks/{id}",
            "POST /console/api/tasks/{id}/drop",
            "POST /console/api/tasks/{id}/retry",
            "GET /console/api/processes",
            "POST /console/api/processes/{id}/stop",
            "GET /console/children",
            "GET /console/memory",
            "GET /console/settings",
            "GET /console/settings/{id}",
            "GET /console/api/settings",
            "GET /console/api/channels",
            "GET /console/settings-model",
            "GET /console/settings-channels",
            "GET /console/api/settings/{id}",
            "GET /console/skills",
            "GET /console/knowledge",
            "GET /console/tasks",
            "GET /console/tasks/{id}",
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
            "GET /console/api/today",
            "POST /console/api/modes",
            "GET /console/grants",
            "GET /console/api/agents",
            "GET /console/api/agents/{id}",
            "POST /console/api/agents/{id}/suspend",
            "POST /console/api/agents/{id}/resume",
            "GET /console/api/models",
            "GET /console/api/models/{id}",
            "GET /console/api/cooldowns",
            "POST /console/api/cooldowns/{id}/clear",
            "GET /console/agents",
            "GET /console/models",
            "GET /console/api/audit",
            "GET /console/api/audit/rows",
            "GET /console/api/context",
            "GET /console/api/prompt",
            "GET /console/api/conversation-copies",
            "POST /console/api/conversation-copies",
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
            "GET /console/api/rooms",
            "POST /console/api/rooms/{id}/messages",
            "GET /console/api/rooms/{id}/timeline",
            "GET /console/api/rooms/{id}/wait",
            "GET /console/api/runs",
            "GET /console/api/runs/{id}",
            "GET /console/api/destinations",
            "POST /console/api/report-previews",
            "POST /console/api/runs/{id}/again",
            "POST /console/api/runs/{id}/stop",
            "POST /console/api/schedule-previews",
            "GET /console/api/schedules",
            "POST /console/api/schedules",
            "GET /console/api/schedules/{id}",
            "POST /console/api/schedules/{id}",
            "GET /console/api/schedules/{id}/history",
            "POST /console/api/schedules/{id}/pause",
            "POST /console/api/schedules/{id}/remove",
            "POST /console/api/schedules/{id}/resume",
            "POST /console/api/schedules/{id}/run",
            "GET /console/api/memories",
            "GET /console/api/memories/counts",
            "POST /console/api/memories",
            "GET /console/api/memories/{id}",
            "POST /console/api/memories/{id}/accept",
            "POST /console/api/memories/{id}/delete",
            "GET /console/api/tasks",
            "GET /console/api/tasks/{id}",
            "POST /console/api/tasks/{id}/drop",
            "POST /console/api/tasks/{id}/retry",
            "GET /console/api/knowledge",
            "GET /console/api/knowledge-search",
            "GET /console/api/knowledge/{id}",
            "GET /console/api/tokens",
            "GET /console/tokens",
            "GET /console/api/skills",
            "GET /console/api/skills/{id}",
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
            "GET /console/reports",
            "GET /console/schedules",
            "GET /console/schedules/new",
            "GET /console/schedules/{id}",
            "GET /console/schedules/{id}/edit",
            "GET /console/memory",
            "GET /console/knowledge",
            "GET /console/tasks",
            "GET /console/tasks/{id}",
            "GET /console/trace",
            "GET /console/trace/{id}",
        ],
        CONSOLE,
    ),
}

API: Final = "bot/operator/api.py"
API_ROOT: Final = "/console/api"
OPERATION: Final = "each operation of bot/operator/api.py, which are read one by one"
ELSEWHERE: Final[Mapping[str, str]] = {
    "GET ? bot/http/operator_api.py: path": OPERATION,
    "POST ? bot/http/operator_api.py: path": OPERATION,
    "POST ? adapters/slack/incoming/http_events.py: self.path": "Slack signs its requests: tests/wire/slack/test_http.py",
    **dict.fromkeys(
        ("GET /sign-in", "GET /sign-in/back"),
        "there where a provider is set: tests/unit/bot/auth/test_sign_in.py",
    ),
    "POST ? adapters/telegram/incoming/webhook.py: self._settings.route": "Telegram shows a token: tests/wire/telegram/test_webhook.py",
}
"""Routes that the process of the suite has not, or has by other names: who may use them, and where that is tested."""

MAKERS: Final = frozenset(
    {
        *("get", "post", "put", "patch", "delete", "head", "options", "view", "static", "route", "resource", "subapp"),
        *("RouteDef", "RouteTableDef"),
    }
)
"""Of `web`, and of a router with "add_" before it."""

PATTERN: Final = re.compile(r"{(\w+):[^}]*}")
"""A part of a path with a rule for its letters, which the router leaves out of its name."""

STAND_INS: Final = "bot/testing/"
"""Servers of tests, which no process of ours has."""


def declared() -> frozenset[str]:
    """Method and path of each; "?" with its place and words where the path is not written in the source."""
    makers = {f"{before}{maker}" for before in ("web.", "add_") for maker in MAKERS}
    found = {one for module in calling(makers) if not module.startswith(STAND_INS) for one in declared_in(module)}
    return frozenset(found | set(_operations()))


def declared_in(module: str) -> Iterator[str]:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call) and (maker := _maker(node.func)):
            yield _words(maker, node.args, module)


def _maker(function: ast.expr) -> str:
    """ "get" of `web.get` and of `site.router.add_get`; empty for what makes no route."""
    match function:
        case ast.Attribute(ast.Name("web"), name) if name in MAKERS:
            return name
        case ast.Attribute(_, name) if name.startswith("add_") and name.removeprefix("add_") in MAKERS:
            return name.removeprefix("add_")
        case _:
            return ""


def _words(maker: str, arguments: list[ast.expr], module: str) -> str:
    method = maker.upper()
    if not arguments:
        return f"{method} ? {module}"
    if maker in ("route", "RouteDef"):
        method, arguments = str(text_of(arguments[0], module)), arguments[1:]
    path = text_of(arguments[0], module)
    if path is None:
        return f"{method} ? {module}: {ast.unparse(arguments[0])}"
    plain = PATTERN.sub(r"{\1}", path)
    return f"{method} {plain}"


def _operations() -> Iterator[str]:
    """Each is a stub with `@get(path)` or `@post(path)`."""
    for node in ast.walk(tree(API)):
        for one in node.decorator_list if isinstance(node, ast.AsyncFunctionDef) else ():
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("get", "post"):
                yield f"{one.func.id.upper()} {API_ROOT}{text_of(one.args[0], API)}"


def text_of(node: ast.expr, module: str) -> str | None:
    """A string that stands in the source, also by the name of a constant; None for any other."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.BinOp(left, ast.Add(), right):
            parts = text_of(left, module), text_of(right, module)
            return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
        case ast.Name(name):
            return _constants(module).get(name) or _of_import(module, name)
        case ast.Attribute(ast.Name(owner), name):
            place = _imports(module).get(owner, "").replace(".", "/") + ".py"
            return _constants(place).get(name) if place in texts() else None
        case _:
            return None


def _of_import(module: str, name: str) -> str | None:
    place, _, there = _imports(module).get(name, "").rpartition(".")
    place = place.replace(".", "/") + ".py"
    return _constants(place).get(there) if place in texts() else None


@cache
def _constants(module: str) -> Mapping[str, str]:
    """Names that are given a text once, anywhere in the module."""
    found: dict[str, str] = {}
    for node in ast.walk(tree(module)):
        match node:
            case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                found[name] = text
            case ast.AnnAssign(ast.Name(name), _, ast.Constant(str(text))):
                found[name] = text
            case _:
                pass
    return found


@cache
def _imports(module: str) -> Mapping[str, str]:
    nodes = [node for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom)]
    return {one.asname or one.name: f"{node.module}.{one.name}" for node in nodes for one in node.names}
