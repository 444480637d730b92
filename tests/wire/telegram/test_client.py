"""The HTTP seam of the library: each way a call may end, told apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from telegram.error import TelegramError

from adapters.telegram.api import Api
from adapters.telegram.client import proxy_for
from adapters.telegram.errors import Cut, NotSent, Refused, ours
from adapters.telegram.settings import TelegramSettings
from bot.testing.serve import abort, serving
from runtime.contract import FileRef
from runtime.errors import ChannelError, Rejected, Retryable, Uncertain
from tests.contract.adapters.rigs.telegram import SHORT
from tests.fakes.telegram import TOKEN
from tests.fakes.telegram_driver import attached
from tests.wire.telegram.stage import Bench

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answering(answer: Answer, dated: Callable[[str | None], None] = lambda date: None) -> AsyncIterator[Api]:
    """A bot whose platform answers every call so, and tells the time to `dated`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with serving(app) as url, Api(TelegramSettings("tg", TOKEN, api_base_url=url, waits=SHORT), dated) as api:
        yield api


def answered(status: int, text: str, **headers: str) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, headers=headers)

    return answer


async def cut(request: web.Request) -> web.StreamResponse:
    return abort(request)


async def half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"ok":')
    return abort(request)


async def never(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(0.5)
    return web.Response()


async def ending(answer: Answer, *, wait: float | None = None) -> TelegramError:
    async with answering(answer) as api:
        with pytest.raises(TelegramError) as told:
            await api.bot.send_message(11, "hello", **({} if wait is None else {"read_timeout": wait}))  # type: ignore[arg-type]
        return told.value


@pytest.mark.parametrize("answer", [cut, half], ids=["cut", "half an answer"])
async def test_what_is_cut_after_it_went_out_is_uncertain(answer: Answer) -> None:
    error = await ending(answer)
    assert type(error) is Cut
    assert type(ours(error, "tg")) is Uncertain


async def test_what_is_not_answered_in_time_is_uncertain() -> None:
    assert type(ours(await ending(never, wait=0.05), "tg")) is Uncertain


async def test_an_answer_that_is_none_is_uncertain() -> None:
    """Perhaps a proxy said 200."""
    assert type(ours(await ending(answered(200, "<html>welcome</html>")), "tg")) is Uncertain


@pytest.mark.parametrize(("status", "text", "times"), [(200, '{"ok":true,"result":true}', 1), (502, "away", 0)])
async def test_only_an_answer_of_telegrams_own_tells_its_time(status: int, text: str, times: int) -> None:
    """An error may be a proxy's, whose clock is its own."""
    dates: list[str | None] = []
    async with answering(answered(status, text), dates.append) as api:
        with suppress(TelegramError):
            await api.bot.delete_message(11, 5)
    assert len(dates) == times


async def test_no_connection_is_not_sent() -> None:
    async with Api(TelegramSettings("tg", TOKEN, api_base_url="http://127.0.0.1:9", waits=SHORT)) as api:
        with pytest.raises(NotSent) as told:
            await api.bot.send_message(11, "hello")
        assert type(ours(told.value, "tg")) is Retryable
        assert TOKEN not in str(told.value)


async def test_after_the_end_nothing_is_sent() -> None:
    async with answering(answered(200, "{}")) as api:
        await api.close()
        with pytest.raises(NotSent, match="stopping"):
            await api.bot.send_message(11, "hello")


REFUSALS: list[tuple[int, str, type[ChannelError], bool]] = [
    (429, '{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":7}}', Retryable, False),
    (500, '{"ok":false,"description":"Internal Server Error"}', Retryable, False),
    (502, "<html>Bad Gateway</html>", Retryable, False),
    (401, '{"ok":false,"description":"Unauthorized"}', Retryable, False),
    (404, '{"ok":false,"description":"Not Found"}', Retryable, False),
    (403, '{"ok":false,"description":"Forbidden: bot was kicked from the group chat"}', Rejected, False),
    (403, '{"ok":false,"description":"Forbidden: user is deactivated"}', Rejected, False),
    (400, '{"ok":false,"description":"Bad Request: can\'t parse entities"}', Rejected, True),
    (400, '{"ok":false,"description":"Bad Request: message is too long"}', Rejected, True),
    (400, '{"ok":false,"description":"Bad Request: PHOTO_INVALID_DIMENSIONS"}', Rejected, True),
    (400, '{"ok":false,"description":"Bad Request: BUTTON_DATA_INVALID"}', Rejected, True),
    (400, '{"ok":false,"description":"Bad Request: chat not found"}', Rejected, False),
    (
        400,
        '{"ok":false,"description":"Bad Request: not enough rights to send text messages to the chat"}',
        Rejected,
        False,
    ),
    (400, '{"ok":false,"description":"Bad Request: CHAT_SEND_DOCS_FORBIDDEN"}', Rejected, False),
    (400, '{"ok":false,"description":"Bad Request: TOPIC_CLOSED"}', Rejected, False),
    (400, '{"ok":false,"description":"Bad Request: message thread not found"}', Rejected, False),
    (413, "<html>Request Entity Too Large</html>", Rejected, True),
    (400, "[]", Rejected, True),
    (400, '{"description": null, "parameters": 7}', Rejected, True),
]


@pytest.mark.parametrize(("status", "text", "kind", "form"), REFUSALS, ids=[f"{r[0]} {r[1][26:70]}" for r in REFUSALS])
async def test_what_a_refusal_means(status: int, text: str, kind: type[ChannelError], form: bool) -> None:
    error = await ending(answered(status, text))
    assert isinstance(error, Refused)
    meant = ours(error, "tg")
    assert type(meant) is kind
    assert getattr(meant, "form", False) is form
    assert len(str(meant)) > 20, "a person reads this"


@pytest.mark.parametrize(
    ("text", "headers", "wait"),
    [
        ('{"description":"slow","parameters":{"retry_after":35}}', {}, 35),
        ('{"description":"slow"}', {"Retry-After": "12"}, 12),
        ("<html>", {"Retry-After": "3"}, 3),
        ("<html>", {"Retry-After": "Sun, 22 Nov 2026 12:00:00 GMT"}, None),
        ("<html>", {}, None),
    ],
)
async def test_the_wait_of_a_rate_limit(text: str, headers: dict[str, str], wait: int | None) -> None:
    meant = ours(await ending(answered(429, text, **headers)), "tg")
    assert isinstance(meant, Retryable)
    assert meant.retry_after == (None if wait is None else timedelta(seconds=wait))


async def test_a_redirect_is_not_followed() -> None:
    """The token is in the address: it goes to nobody else."""
    error = await ending(answered(302, "", Location="http://127.0.0.1:9/"))
    assert isinstance(error, Refused)
    assert error.code == 302


@pytest.mark.parametrize(
    ("server", "proxy"),
    [
        ("https://api.telegram.org", "http://proxy.example.org:3128"),
        ("https://inside.example.com", None),
        ("http://127.0.0.1:8081", None),
    ],
)
def test_the_machines_proxy_is_honoured(monkeypatch: pytest.MonkeyPatch, server: str, proxy: str | None) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "example.com")
    assert proxy_for(server) == proxy


# ------------------------------------------------------------------------------------------------------------ files


async def file_of(bench: Bench, **more: Any) -> FileRef:
    signal = await bench.signal_of("look", files=[attached("a.bin", b"0123456789", **more)])
    [file] = signal.body.files  # type: ignore[union-attr]
    return file


async def test_a_file_is_brought_whole(bench: Bench, tmp_path: Path) -> None:
    async with bench.life() as adapter:
        file = await file_of(bench)
        for _ in range(2):  # after a kill once more
            await adapter.fetch(file, tmp_path / "a", most=10)
        assert (tmp_path / "a").read_bytes() == b"0123456789"


async def test_a_file_over_the_bound_is_rejected_whatever_the_platform_says_of_its_size(
    bench: Bench, tmp_path: Path
) -> None:
    async with bench.life() as adapter:
        for size in (10, 0):
            file = await file_of(bench, size=size)
            with pytest.raises(Rejected, match="at most"):
                await adapter.fetch(file, tmp_path / "a", most=9)


async def test_a_file_that_telegram_does_not_hand_out_names_its_limit(bench: Bench, tmp_path: Path) -> None:
    async with bench.life() as adapter:
        file = await file_of(bench, size=20 * 1024 * 1024 + 1)
        unsized = FileRef(file.name, "", 0, file.remote)
        for ref in (file, unsized):
            with pytest.raises(Rejected, match="20 MB"):
                await adapter.fetch(ref, tmp_path / "a", most=10**9)


async def test_a_file_that_is_gone_is_rejected(bench: Bench, tmp_path: Path) -> None:
    async with bench.life() as adapter:
        with pytest.raises(Rejected, match="wrong file_id"):
            await adapter.fetch(FileRef("a", "", 0, "file-99"), tmp_path / "a", most=10)


async def test_a_platform_that_is_away_is_tried_again_later(bench: Bench, tmp_path: Path) -> None:
    async with bench.life() as adapter:
        file = await file_of(bench)
        await bench.driver.switch(away=True)
        with pytest.raises(Retryable) as told:
            await adapter.fetch(file, tmp_path / "a", most=10)
        assert TOKEN.partition(":")[2] not in str(told.value)
        await bench.driver.lift()
        await bench.driver.fault("cut before", on="getFile")
        with pytest.raises(Retryable):
            await adapter.fetch(file, tmp_path / "a", most=10)


async def test_a_link_where_the_file_goes_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    async with bench.life() as adapter:
        file = await file_of(bench)
        (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="symbolic link"):
            await adapter.fetch(file, tmp_path / "a", most=10)
        assert not (tmp_path / "elsewhere").exists()
