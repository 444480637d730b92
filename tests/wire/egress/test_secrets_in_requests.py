"""Secrets in requests: filled at the wire for their hosts alone, seen by nobody, hidden where an answer repeats them."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import pytest
from aiohttp import web

from bot.secrets.chain import Bound
from bot.testing.serve import serving
from bot.wiring.safety.bound import BoundSecrets
from runtime.contract import Caller, CardContext, CardNote, Json, RunId, SessionKey, ToolContext
from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import StoreError, ToolFailed
from tools.web.sending import request_tool

SECRET: Final = 'tok"en/with+odd & letters'
OTHER: Final = "another-secret-of-ours"
CONTEXT: Final = ToolContext(Path(), SessionKey("s"), RunId("r1"), "c", agent="main")


@dataclass
class Echo:
    """An API that says back all that it is sent, in three forms."""

    url: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    got: list[tuple[str, str, str]] = field(default_factory=list)
    audit: list[tuple[str, str, str, str]] = field(default_factory=list)
    is_away: bool = False

    async def take(self, request: web.Request) -> web.Response:
        body, key = await request.text(), request.headers.get("X-Key", "")
        self.got.append((str(request.rel_url.query_string), key, body))
        coded = base64.b64encode(f"user:{key}".encode()).decode()
        text = f"{request.url} {key} {body} {coded}"
        return web.Response(text=text, status=self.status, headers=self.headers)

    async def note(self, kind: str, by: str, subject: str, detail: str) -> None:
        if self.is_away:
            raise StoreError("the database is away")
        self.audit.append((kind, by, subject, detail))

    def tool(self, *hosts: str) -> object:
        port = int(self.url.rpartition(":")[2])
        rule = Rule(Result.ALLOW, "http_request", ports=frozenset({port}))
        secrets = BoundSecrets(
            {"DESK": Bound(SECRET, hosts or ("127.0.0.1",)), "X": Bound(OTHER, ("x.test",))}, self.note
        )
        return request_tool(Egress([rule], allow=[Opening.parse("127.0.0.0/8")]), secrets)

    async def send(self, *hosts: str, path: str = "/tickets", **more: Json) -> str:
        arguments = {"method": "POST", "url": f"{self.url}{path}", **more}
        text: str = await self.tool(*hosts).call(arguments, CONTEXT)  # type: ignore[attr-defined]
        return text


@pytest.fixture
async def api() -> AsyncIterator[Echo]:
    found = Echo()
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", found.take)
    async with serving(app) as found.url:
        yield found


async def test_a_secret_is_filled_at_its_place_and_its_echo_is_hidden(api: Echo) -> None:
    told = await api.send(
        path="/tickets?key={{secret:DESK}}&a=b",
        headers={"X-Key": "{{secret:DESK}}"},
        body='{"token": "{{secret:DESK}}"}',
    )
    query, key, body = api.got[0]
    assert parse_qs(query) == {"key": [SECRET], "a": ["b"]}
    assert key == SECRET
    assert body == '{"token": "tok\\"en/with+odd & letters"}', "it can't end the text that it stands in"
    assert "{{secret:DESK}}" in told
    assert not any(part in told for part in (SECRET, "tok%22en", 'tok\\"en', "odd & letters", "odd+%26", "b2RkICYg"))
    assert api.audit == [("secret used", "main", "DESK", "http_request to 127.0.0.1, run r1")]


async def test_a_form_gets_it_in_its_own_writing(api: Echo) -> None:
    await api.send(body="token={{secret:DESK}}&x=1", content_type="application/x-www-form-urlencoded")
    assert parse_qs(api.got[0][2]) == {"token": [SECRET], "x": ["1"]}


@pytest.mark.parametrize(
    ("hosts", "path", "secret", "why"),
    [
        (("api.example.com",), "", "DESK", r"isn't for 127\.0\.0\.1: it's only for api\.example\.com"),
        (("127.0.0.1",), "", "NOTHING", "There is no secret NOTHING for calls"),
        (("127.0.0.1",), "", "X", r"only for x\.test"),
        (("*.0.0.1",), "?{{secret:X}}", "DESK", r"only for x\.test"),
    ],
    ids=["another host", "no such secret", "bound elsewhere", "one of two"],
)
async def test_another_host_is_refused_with_words_before_anybody_is_asked(
    api: Echo, hosts: tuple[str, ...], path: str, secret: str, why: str
) -> None:
    given = {"path": f"/a{path}", "headers": {"X-Key": f"{{{{secret:{secret}}}}}"}}
    with pytest.raises(ToolFailed, match=why):
        await api.send(*hosts, **given)  # type: ignore[arg-type]  # what a model may say
    spec = api.tool(*hosts).spec  # type: ignore[attr-defined]
    asked = {"method": "POST", "url": f"{api.url}/a{path}", "headers": given["headers"]}
    assert await spec.refusal(asked, Caller("main", None)) != ""
    assert (api.got, api.audit) == ([], [])


async def test_a_secret_chooses_no_host_and_goes_nowhere_in_the_open(api: Echo) -> None:
    spec = api.tool("api.example.com").spec  # type: ignore[attr-defined]
    for url, why in (
        ("https://{{secret:DESK}}.example.com/", "can't stand in the host"),
        ("https://{{secret:DESK}}@api.example.com/", "can't stand in the host"),
        ("http://api.example.com/?{{secret:DESK}}", "over http, where others could read it"),
        ("https://api.example.com.evil.test/?{{secret:DESK}}", "isn't for api.example.com.evil.test"),
    ):
        assert why in await spec.refusal({"method": "POST", "url": url}, Caller("main", None))


async def test_a_redirect_takes_no_secret_along(api: Echo) -> None:
    api.status, api.headers = 307, {"Location": f"{api.url.replace('127.0.0.1', '127.0.0.2')}/stolen"}
    told = await api.send(headers={"X-Key": "{{secret:DESK}}"}, body="{{secret:DESK}}")
    assert told.startswith("307")
    assert len(api.got) == 1, "nothing was sent on"


async def test_the_card_says_which_secret_goes_where_and_shows_the_placeholder(api: Echo) -> None:
    spec = api.tool("*.example.com").spec  # type: ignore[attr-defined]
    arguments = {"method": "POST", "url": "https://api.example.com/x", "headers": {"X-Key": "{{secret:DESK}}"}}
    parts = spec.card(arguments, CardContext(Path()))
    assert CardNote("sends the secret DESK to api.example.com") in parts
    assert SECRET not in repr(parts)
    assert "DESK (for *.example.com)" in spec.description


async def test_what_cannot_be_recorded_is_not_sent(api: Echo) -> None:
    api.is_away = True
    with pytest.raises(ToolFailed, match="can't be recorded right now"):
        await api.send(headers={"X-Key": "{{secret:DESK}}"})
    assert api.got == []
    assert replace(CONTEXT).agent == "main"
