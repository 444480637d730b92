"""Checks of what watches: are the metrics where they should be, and does the collector of traces answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import aiohttp

from bot.doctor.services.web import taken
from bot.doctor.subject import REACH, Subject, fault, fine, warning
from bot.metrics.place import Place, place_of
from bot.settings.telemetry import is_installed
from runtime.contract import Finding

OWN_METRICS = ("signalbox_build_info", "metrics of Signalbox")
"""What our page says, or its refusal."""
BLIND = "Prometheus gets nothing from here. Everything else works."


async def check_metrics(subject: Subject) -> Sequence[Finding]:
    metrics = subject.settings.metrics
    if not metrics.enabled:
        return [fine("metrics", "off: metrics.enabled is false")]
    place = place_of(metrics, subject.settings.web)
    if place.is_own and (trouble := await _trouble(subject, place)):
        fix = "find what uses it: ss -ltnp. Signalbox takes the port once it's free. Or set metrics.port"
        return [warning("metrics.port", trouble, BLIND, fix)]
    if place.is_open and not metrics.token:
        what = f"{place.host}:{place.port} can be reached by others, so nothing is shown without a token"
        return [
            warning(
                "metrics.token", what, BLIND, "set metrics.token, or metrics.port to serve them to this machine alone"
            )
        ]
    return [fine("metrics", f"/metrics at {place.host}:{place.port or '(a free one)'}")]


async def _trouble(subject: Subject, place: Place) -> str | None:
    if subject.pid is None:
        return taken(place.host, place.port)
    if await _is_ours(place):
        return None
    return f"{place.host}:{place.port} is not served by process {subject.pid or '?'}"


async def _is_ours(place: Place) -> bool:
    host = "127.0.0.1" if place.is_open else place.host
    timeout = aiohttp.ClientTimeout(total=REACH.total_seconds())
    with suppress(aiohttp.ClientError, TimeoutError, UnicodeDecodeError):
        async with aiohttp.ClientSession(timeout=timeout) as session:
            url = f"http://{f'[{host}]' if ':' in host else host}:{place.port}/metrics"
            async with session.get(url) as answer:
                text = await answer.text()
                return any(words in text for words in OWN_METRICS)
    return False


async def check_telemetry(subject: Subject) -> Sequence[Finding]:
    endpoint = subject.settings.telemetry.endpoint
    if not endpoint:
        return []
    if not is_installed():
        why = "Signalbox needs it to send traces, and won't start without it."
        return [fault("telemetry.endpoint", "the extra is not installed", why, 'pip install "signalbox-bot[otel]"')]
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(REACH.total_seconds()):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError) as error:
        what = f"{parts.hostname}:{port} can't be reached ({error or 'no answer'})"
        fix = "start the collector, or set telemetry.endpoint"
        return [warning("telemetry.endpoint", what, "Traces are dropped. Everything else works.", fix)]
    writer.close()
    return [fine("telemetry.endpoint", f"{parts.hostname}:{port} answers")]
