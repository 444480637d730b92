"""From a message to its reply on the page, beside a bare handler that asks the same mock model."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from pathlib import Path
from typing import Final

import aiohttp

from bench.disk import fsync_times
from bench.figures import Figure, high, middle
from bench.program import Program, helper, signalbox

MESSAGES: Final = 60
WARM: Final = 8
COMMITS: Final = 5


async def replies(short: bool) -> list[Figure]:
    figures: list[Figure] = []
    for stream in (False, True):
        figures += await _compare(stream, 5 if short else MESSAGES)
    return figures


async def _compare(stream: bool, count: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("tests.fakes.openai", folder=Path(name)) as model:
        folder, base = Path(name), f"{model.url.rstrip('/')}/v1"
        flags = ["--stream"] if stream else []
        with (
            helper("bench.bare", "--api-base", base, *flags, folder=folder) as bare,
            signalbox(folder, settings(base, stream=stream)) as ours,
        ):
            await _bare_replies(bare, WARM)
            async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
                await _open(session, ours)
                await _our_replies(session, ours, WARM)
                before = (bare.processor_seconds, ours.processor_seconds)
                bare_times, our_times = [], []
                for _ in range(count):  # in turns, so that both meet the same neighbours
                    bare_times += await _bare_replies(bare, 1)
                    our_times += await _our_replies(session, ours, 1)
                used = (bare.processor_seconds - before[0], ours.processor_seconds - before[1])
        fsync = middle(fsync_times(folder, 100))
    how = "streamed" if stream else "whole"
    bound = 2 * middle(bare_times) + COMMITS * fsync
    return [
        Figure(f"bare reply, {how}, p50", middle(bare_times) * 1000, "ms", None, f"p99 {high(bare_times) * 1000:.1f}"),
        Figure(
            f"message to reply, {how}, p50",
            middle(our_times) * 1000,
            "ms",
            bound * 1000,
            f"2 x bare + {COMMITS} x fsync {fsync * 1000:.2f} ms; p99 {high(our_times) * 1000:.1f}",
        ),
        Figure(
            f"processor time a message, {how}",
            used[1] / max(used[0], 0.01),
            "x bare",
            None,
            f"{used[1] / count * 1000:.1f} ms",
        ),
    ]


def settings(base: str, *, stream: bool) -> str:
    return (
        f'[web]\nport = 0\n[model]\nname = "openai/mock"\napi_base = "{base}"\napi_key = "none"\n'
        f"stream = {str(stream).lower()}\npreload = true\n"
    )


async def _bare_replies(bare: Program, count: int) -> list[float]:
    times = []
    async with aiohttp.ClientSession() as session:
        for number in range(count):
            began = time.perf_counter()
            async with session.post(f"{bare.url}/message", json={"text": f"hello {number}"}) as answer:
                answer.raise_for_status()
                await answer.json()
            times.append(time.perf_counter() - began)
    return times


async def _open(session: aiohttp.ClientSession, ours: Program) -> None:
    async with session.get(ours.link) as page:
        page.raise_for_status()


async def _our_replies(session: aiohttp.ClientSession, ours: Program, count: int) -> list[float]:
    """Post and wait on the event stream, as the page does; each message has a room of its own."""
    times = []
    for _ in range(count):
        room = secrets.token_hex(8)
        base = f"{ours.url}/api/rooms/{room}"
        words = f"hello {room}"
        fields = {"id": secrets.token_hex(16), "text": words, "files": []}
        async with session.get(f"{base}/events") as events:
            began = time.perf_counter()
            async with session.post(f"{base}/messages", json=fields, headers={"Origin": ours.url}) as answer:
                answer.raise_for_status()
            await asyncio.wait_for(_shown(session, base, events), 30)
            times.append(time.perf_counter() - began)
    return times


async def _shown(session: aiohttp.ClientSession, base: str, events: aiohttp.ClientResponse) -> None:
    async for line in events.content:
        if line.startswith(b"event: changed"):
            async with session.get(f"{base}/timeline") as answer:
                told = await answer.json()
            if any(entry["author"] == "agent" for entry in told["entries"]):
                return
    raise RuntimeError("the event stream ended before the reply")
