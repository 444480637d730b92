"""The tool that changes things elsewhere, over real connections: what is sent, and what is told where nobody knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from aiohttp import web

from bot.settings.settings import load
from bot.testing.serve import abort, serving
from bot.wiring.tools.requests import request_tools
from runtime.contract import Effect, Json, RunId, SessionKey, ToolContext
from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import ToolFailed, ToolRetry
from tools.web.sending import BODY_MAX_CHARS, request_tool

CONTEXT = ToolContext(Path(), SessionKey("s"), RunId("r"), "c")


@dataclass
class Api:
    """Keeps what it was sent; cuts the connection where `cuts`."""

    url: str = ""
    cuts: bool = False
    got: list[tuple[str, str, str, str]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.text()
        kind = request.headers.get("Content-Type", "")
        self.got.append((request.method, body, kind, request.headers["Idempotency-Key"]))
        return abort(request) if self.cuts else web.json_response({"id": 7}, status=201)

    async def send(self, method: str = "POST", context: ToolContext = CONTEXT, **more: Json) -> str:
        rule = Rule(Result.ALLOW, "http_request", path="/tickets*", ports=frozenset({int(self.url.rpartition(":")[2])}))
        tool = request_tool(Egress([rule], allow=[Opening.parse("127.0.0.0/8")]))
        return await tool.call({"method": method, "url": f"{self.url}/tickets", **more}, context)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    found = Api()
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", found.take)
    async with serving(app) as found.url:
        yield found


async def test_what_is_sent_is_what_was_asked_for(api: Api) -> None:
    told = await api.send(body='{"title": "Grüße"}')
    assert told.startswith("201 Created\n")
    assert '"id": 7' in told
    assert [sent[:3] for sent in api.got] == [("POST", '{"title": "Grüße"}', "application/json")]
    await api.send("DELETE", headers={"X-Team": "a"})
    assert api.got[-1][:3] == ("DELETE", "", "")


async def test_the_same_call_has_the_same_key_and_another_has_another(api: Api) -> None:
    for context in (CONTEXT, CONTEXT, replace(CONTEXT, call_id="d"), replace(CONTEXT, run_id=RunId("q"))):
        await api.send(context=context)
    keys = [key for *_, key in api.got]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    await api.send(body='{"title": "Another"}')
    assert api.got[-1][-1] not in keys, "the ids of calls may begin anew with the next reply"


async def test_a_cut_connection_says_that_nobody_knows(api: Api) -> None:
    api.cuts = True
    with pytest.raises(ToolFailed, match="Nobody knows whether it was carried out"):
        await api.send()
    assert len(api.got) == 1, "nothing is sent again by itself"


async def test_nothing_is_sent_that_no_rule_allows(api: Api) -> None:
    with pytest.raises(ToolFailed, match="no egress rule allows"):
        await api.send(url=f"{api.url}/users")
    for headers in ({"Host": "other"}, {"A": "b\nC: d"}):
        with pytest.raises(ToolFailed, match="Not sent"):
            await api.send(headers=headers)
    with pytest.raises(ToolRetry, match="at most"):
        await api.send(body="x" * (BODY_MAX_CHARS + 1))
    assert api.got == []


async def test_a_key_that_the_model_chose_is_not_sent(api: Api) -> None:
    await api.send(headers={"idempotency-KEY": "mine"})
    assert "mine" not in api.got[0][3]


def test_it_asks_first_and_is_not_made_twice() -> None:
    spec = request_tool(Egress()).spec
    assert (spec.effect, spec.repeatable, spec.seldom) == (Effect.WRITE, False, True)


@pytest.mark.parametrize(
    ("rules", "there"),
    [
        ("", False),
        ('[[egress.rules]]\nmethod = "GET"\nresult = "allow"', False),
        ('[[egress.rules]]\ntool = "http_get"\nresult = "allow"', False),
        ('[[egress.rules]]\nmethod = "POST"\nresult = "deny"', False),
        ('[[egress.rules]]\nmethod = "P*"\nhost = "api.example.org"\nresult = "allow"', True),
    ],
)
def test_it_is_there_where_a_rule_lets_something_be_sent(tmp_path: Path, rules: str, there: bool) -> None:
    (tmp_path / "signalbox.toml").write_text(rules, encoding="utf-8")
    assert bool(request_tools(load(folder=tmp_path, environ={}))) is there
