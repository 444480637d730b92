"""`docs/api.md`, made from the doors themselves: `python -m bot.reference.doors` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bot.doors.house import declared_doors
from bot.doors.openapi import document_of

DOORS_PAGE: Final = Path(__file__).parents[2] / "docs" / "api.md"
DOORS_INTRODUCTION: Final = """\
# REST API

This page is made from `bot/doors/` by `python -m bot.reference.doors`; a test fails when it is stale. A running process has
the whole document, with every form, at `/api/v1/openapi.json` (OpenAPI 3.1).

Programs talk to agents as people do. What a program says is stored before it's answered, so an answer survives a restart,
and a program that asks again with the same key gets the same answer.

## Tokens

An owner makes a program a token. It's shown once, and kept as a hash.

```console
$ signalbox tokens make build-server --agent ops --rooms builds --until 90d
sbx_…
$ signalbox tokens list
$ signalbox tokens revoke build-server
```

- `--role user` (the default) may talk, and sees its own conversations. `--role operator` also decides approvals, and sees
  runs, deliveries and all else below. About calls that a program asked for itself somebody else decides.
- `--agent` names the agents it may ask, the first one where it names none. Its words can't reach another one.
- `--rooms` names rooms, by address or glob (`slack:work/*`), or rooms of its own (`build-*`: a glob
  without a colon is about those alone). Without it a user's token has its own rooms.
- A program speaks as `api:NAME`, so [rooms](access.md) can let it in or block it by that name.
- People with a provider's token speak as `oidc:SUBJECT`, without a token of ours: [Sign-in](sign-in.md#the-api).
- `--per-minute` bounds its calls (60). Above that it's answered 429 with Retry-After.
- A person who is signed in at the page needs no token here: their browser's cookie lets in as they are, with the rooms of
  their page, for requests that the page itself sends: 600 a minute, and 128 streams and waits at once. Where a header has a
  bearer, that alone counts.
- Where the lists below say `viewer`, every token will do, and at the page everybody may read.

Send the token as `Authorization: Bearer sbx_…`. A token in an address is refused, and recorded in the audit: logs keep addresses.
Once a token is revoked or its time is over, streams that are open end, too, and so do those that a lowered role doesn't open.

## Say, and wait

```console
$ curl $URL/api/v1/rooms/builds/messages -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: build-7" \\
    -H "Content-Type: application/json" -d '{"text": "Why did build 7 fail?"}'
{"id": "0354FnSSp6uaVBPasiH9sL", "outcome": "accepted", "repeated": false, "notice": ""}
$ curl "$URL/api/v1/messages/0354FnSSp6uaVBPasiH9sL?wait=30" -H "Authorization: Bearer $TOKEN"
```

- 202: it's stored and will be answered. The same key again is the same message (200); with other words it's 409.
- A room is a name of the program's own, or an address in one of `--rooms`. Rooms that a token may not use and rooms that
  aren't there get the same 403.
- `state` is queued, working, asking, done, failed, stopped, refused or kept. While it's `asking`, `questions` says what
  people are asked; an operator's token decides at `/api/v1/approvals/{id}`.
- `/api/v1/messages/{id}/events` sends the message after each change, as server-sent events; between them, `progress` has the
  text that is being said. It doesn't last: after a kill, another text may be recorded. As a WebSocket
  the same address sends the same events as JSON, each of at most 64 KiB. Both end after 30 minutes: come back then.
- `/api/v1/runs/{id}/stream` sends the events of a run in both ways, behind `Last-Event-ID`, and ends with the run, or after 30
  minutes without an event.

## Signals

`POST /api/v1/signals` tells of something that happened: `source`, `type`, `summary`, `urgency`, a `payload` of at most 64 KiB,
a `dedupe_key`, and a `room`. `attention` in the answer says what becomes of it: `runs`, `interrupts` (high and critical),
`kept as context` (low) or `same as before`. What it says is [material](security.md) for the agent; `task` is what to do about it.

## Errors, pages, changes

Errors are `application/problem+json` (RFC 9457): `detail` is a sentence. Lists come in pages: `data`, and `next`, which is the
`cursor` of the next page (among the newest 50,000 rows, or 5,000 for a token of some rooms or agents). What can be changed has an `ETag`; a change with an old one in `If-Match` is
answered 412.
"""


def doors_document() -> str:
    """The whole page."""
    document = document_of(declared_doors())
    return "\n".join([DOORS_INTRODUCTION, *_groups(document)])


def _groups(document: Mapping[str, Any]) -> Iterator[str]:
    rows: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            rows.setdefault(told["tags"][0], []).append(_row(method.upper(), path, told))
    for group, lines in rows.items():
        yield f"## {group}\n"
        yield "| request | token | what it does | takes |"
        yield "| --- | --- | --- | --- |"
        yield from lines
        yield ""


def _row(method: str, path: str, told: Mapping[str, Any]) -> str:
    query = [one["name"] for one in told["parameters"] if one["in"] == "query"]
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    takes = ", ".join(f"`{name}`" for name in query)
    if name := body.get("$ref", "").rpartition("/")[2]:
        takes = f"`{name}`"
    return f"| `{method} {path}` | {told['x-role']} | {told['summary']} | {takes} |"


if __name__ == "__main__":
    DOORS_PAGE.write_text(doors_document(), encoding="utf-8")
