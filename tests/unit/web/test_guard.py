"""What stands before every route, of the page and of the console."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from adapters.web.settings import WebSettings
from runtime.contract import Role
from runtime.errors import StoreError
from runtime.http.guard import install
from tests.unit.web.stage import served

MESSAGES = "/api/rooms/room01/messages"
MESSAGE = {"id": "0123456789abcdef", "text": "hi"}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example", "", "[::1"])
async def test_a_name_that_is_not_ours_is_refused_with_the_setting_to_change(tmp_path: Path, host: str) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        for path in ("/", "/api/me"):
            async with client.get(path, headers={"Host": host}) as answer:
                assert answer.status == 421
                assert "hosts" in await answer.text()


async def test_loopback_at_our_port_and_the_named_hosts_are_ours(tmp_path: Path) -> None:
    settings = WebSettings(hosts=("Bot.example.org", "proxy.example:9000"))
    async with served(tmp_path, settings=settings) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        port = stage.base.rpartition(":")[2]
        allowed = [
            f"localhost:{port}",
            f"[::1]:{port}",
            "bot.example.org",
            "bot.example.org:8443",
            "proxy.example:9000",
        ]
        for host in allowed:
            async with client.get("/api/me", headers={"Host": host}) as answer:
                assert answer.status == 200, host
        async with client.get("/api/me", headers={"Host": "proxy.example:9001"}) as answer:
            assert answer.status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
async def test_another_sites_page_cannot_speak_for_a_person(tmp_path: Path, headers: dict[str, str]) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER), **headers) as client:
        async with client.post(MESSAGES, json=MESSAGE) as answer:
            assert answer.status == 403
        assert stage.sink.taken == {}


async def test_a_plain_form_cannot_either(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        token = stage.links.add("Ada", Role.OWNER)
        async with stage.client(token) as client:
            del client.headers["X-Signalbox"]
            async with client.post(MESSAGES, data={"text": "hi"}) as answer:
                assert answer.status == 403
            async with client.post(MESSAGES, json=MESSAGE) as answer:
                assert answer.status == 202


async def test_a_request_without_any_origin_is_no_browsers(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        del client.headers["Origin"]
        async with client.post(MESSAGES, json=MESSAGE) as answer:
            assert answer.status == 403
        async with client.post(MESSAGES, json=MESSAGE, headers={"Sec-Fetch-Site": "same-origin"}) as answer:
            assert answer.status == 202


@pytest.mark.parametrize(
    "path", ["/", "/static/app.js", "/api/me", "/api/nothing", "/link/wrong", "/api/rooms/room01/events"]
)
async def test_every_answer_tells_the_browser_to_be_strict(tmp_path: Path, path: str) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.get(path) as answer,
    ):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_errors_are_json_for_the_api_and_a_page_for_people(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        async with client.get("/api/nothing") as answer:
            assert (answer.status, await answer.json()) == (404, {"error": "There's nothing at this address."})
        async with client.get("/nothing/<script>") as answer:
            assert (answer.status, answer.content_type) == (404, "text/html")
            assert "<script" not in await answer.text()
        async with client.put("/api/me") as answer:
            assert (answer.status, answer.content_type) == (405, "application/json")


async def test_health_checks_come_under_any_name_and_a_fault_of_ours_is_told_without_its_text() -> None:
    async def healthy(request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def broken(request: web.Request) -> web.Response:
        raise RuntimeError("secret detail")

    app = web.Application()
    install(app, ())
    app.add_routes([web.get("/healthz", healthy), web.get("/api/broken", broken)])
    async with TestClient(TestServer(app)) as client:
        async with client.get("/healthz", headers={"Host": "10.0.0.7:8080"}) as answer:
            assert answer.status == 200
        async with client.get("/api/broken") as answer:
            assert answer.status == 500
            assert "secret" not in await answer.text()


@pytest.mark.parametrize("fault", [StoreError("away"), RuntimeError("broken")])
async def test_the_log_of_a_link_that_failed_signs_nobody_in(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(_request: web.Request) -> web.Response:
        raise fault

    app = web.Application()
    install(app, ())
    app.add_routes([web.post("/link/{token}", fails)])
    headers = {"Sec-Fetch-Site": "same-origin", "X-Signalbox": "1"}
    async with TestClient(TestServer(app)) as client, client.post("/link/sesame", headers=headers) as answer:
        assert answer.status >= 500
    assert "POST /link/{token}" in caplog.text
    assert "sesame" not in caplog.text


async def test_a_request_that_ends_in_the_middle_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """What aiohttp raises into the handler when a browser hangs up while its body is being read."""

    async def cut(_request: web.Request) -> web.Response:
        raise ConnectionResetError("Connection lost")

    app = web.Application()
    install(app, ())
    app.add_routes([web.get("/api/cut", cut)])
    async with TestClient(TestServer(app)) as client, client.get("/api/cut") as answer:
        assert answer.status == 400
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_the_pages_own_files_are_not_sent_twice(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client() as client:
        for name, kind in [
            ("app.js", "text/javascript"),
            ("style.css", "text/css"),
            ("colours.css", "text/css"),
            ("icon.svg", "image/svg+xml"),
            ("icon-512.png", "image/png"),
            ("app.webmanifest", "application/manifest+json"),
            ("worker.js", "text/javascript"),
        ]:
            async with client.get(f"/static/{name}") as answer:
                assert (answer.status, answer.content_type) == (200, kind)
                tag = answer.headers["ETag"]
            async with client.get(f"/static/{name}", headers={"If-None-Match": tag}) as answer:
                assert answer.status == 304
        async with client.get("/static/..%2fadapter.py") as answer:
            assert answer.status == 404


async def test_a_browser_keeps_the_files_of_one_version(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client() as client:
        async with client.get("/static/worker.js") as answer:
            assert answer.headers["Service-Worker-Allowed"] == "/"
        async with client.get("/static/shell.js") as answer:
            told = json.loads((await answer.text()).removeprefix("self.SHELL = ").rstrip(";\n"))
        assert told["version"]
        assert {"index.html", "offline.html", "app.js", "style.css", "icon-192.png"} <= told["files"].keys()
        assert "worker.js" not in told["files"]  # which keeps the others
        for name, tag in told["files"].items():
            async with client.get(f"/static/{told['version']}/{name}") as answer:
                assert answer.headers["ETag"] == f'"{tag}"'
                assert "immutable" in answer.headers["Cache-Control"]


async def test_the_page_holds_no_inline_script_or_style_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        async with client.get("/") as answer:
            page = await answer.text()
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert page.count("<script") == len(re.findall(r'<script(?: type="module")? src="/static/', page)) == 2
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page


async def test_no_answer_tells_what_it_is_made_with(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client() as client, client.get("/api/me") as answer:
        assert answer.headers["Server"] == "Signalbox"
