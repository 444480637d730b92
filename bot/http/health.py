"""For those who watch the process: `/healthz` says that it lives, `/readyz` whether it can work, and why not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from aiohttp import web

from runtime.errors import BotError

Check = Callable[[], Awaitable[str | None] | str | None]
"""None when all is well, else the reason in words."""

HEALTH_CHECK_TIMEOUT: Final = timedelta(seconds=0.7)
"""For one check: whoever asks has an answer within a second."""


def everybody(request: web.Request) -> bool:
    """Answer where nobody is kept from the reasons."""
    return True


def health_routes(
    checks: Mapping[str, Check],
    *,
    stuck: Callable[[], str | None] = lambda: None,
    may_know: Callable[[web.Request], bool] = everybody,
) -> list[web.RouteDef]:
    """`checks` by what they look at, such as "store" or "web"; `stuck` is why this process must be started anew. Whoever
    asks is told whether all is well; why not, only who `may_know`."""

    async def healthz(request: web.Request) -> web.Response:
        if reason := stuck():
            told = {"reason": reason} if may_know(request) else {}
            return web.json_response({"status": "stuck", **told}, status=503)
        return web.json_response({"status": "ok"})

    async def readyz(request: web.Request) -> web.Response:
        reasons = await reasons_against(checks)
        if not reasons:
            return web.json_response({"status": "ready"})
        told = {"reasons": reasons} if may_know(request) else {}
        return web.json_response({"status": "not ready", **told}, status=503)

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]


async def reasons_against(checks: Mapping[str, Check]) -> dict[str, str]:
    """Parts that are not ready, and why. All checks are made side by side."""
    reasons = await asyncio.gather(*map(_reason, checks.values()))
    return {name: reason for name, reason in zip(checks, reasons, strict=True) if reason is not None}


async def _reason(check: Check) -> str | None:
    try:
        async with asyncio.timeout(HEALTH_CHECK_TIMEOUT.total_seconds()):
            found = check()
            return await found if inspect.isawaitable(found) else found
    except TimeoutError:
        return f"no answer within {HEALTH_CHECK_TIMEOUT.total_seconds():g} seconds"
    except BotError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a check that breaks is no reason to look healthy, or to fall over
        return f"{type(error).__name__}: {error}"
