"""`signalbox run`: the process itself."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.options import ConfigFile, settings_of
from bot.cli.options import run as run_to_end

if TYPE_CHECKING:
    import asyncio

    from bot.serving import Ready
    from bot.settings import Settings

LEAVE_WITHIN: Final = timedelta(seconds=9.5)  # an orchestrator kills after 10; a kill is safe, so we may do it first

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on, instead of web.host.")]
Port = Annotated[int | None, typer.Option("--port", help="Port to listen on, instead of web.port; 0 takes a free one.")]


def add_to(cli: typer.Typer) -> None:
    cli.command()(run)


def run(context: typer.Context, config: ConfigFile = None, host: Host = None, port: Port = None) -> None:
    """Start Signalbox: it works until it is asked to stop (Ctrl-C or SIGTERM)."""
    flags: dict[str, object] = {"web.host": host, "web.port": port}
    given = {name: value for name, value in flags.items() if value is not None}
    settings = settings_of(context, config, given, with_secrets=True)
    from bot import logs

    logs.configure(settings.log.level, settings.log.format, settings.secret_values())
    logs.tell_skipped(settings.chain.skipped)
    run_to_end(_serve(settings))


async def _serve(settings: Settings) -> None:
    import asyncio

    from bot.serving import serving

    asked = asyncio.Event()
    _heed_signals(asked)
    async with serving(settings) as ready:
        _greet(settings, ready)
        await asked.wait()


def _heed_signals(asked: asyncio.Event) -> None:
    """The first signal asks to drain; the second, or the end of patience, leaves at once."""
    import asyncio

    loop = asyncio.get_running_loop()

    def heed() -> None:
        if asked.is_set():
            os._exit(1)
        asked.set()
        loop.call_later(LEAVE_WITHIN.total_seconds(), os._exit, 1)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heed)


def _greet(settings: Settings, ready: Ready) -> None:
    url = ready.control.url
    lines = [f"Signalbox is ready at {url}"]
    if ready.link:
        lines += [f"Open your own link, and keep it to yourself: {ready.link}"]
    elif settings.web.token is None:
        lines += ["Your link of the first start still works. For a new one: signalbox people link owner"]
    lines += [settings.banner] if settings.banner else []
    with suppress(OSError):  # nobody reads: that is no reason to stop
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
