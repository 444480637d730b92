"""`signalbox run` and `signalbox reload`: the process itself, and its settings read again."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.grouped import grouped
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.options import run as run_to_end
from bot.terminal.start_options import EnvFile, StartOptions, check_model
from runtime.errors import BotError
from runtime.lean import no_full_collections

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import timedelta

    from bot.node.service_manager import Manager
    from bot.server.process import Ready
    from bot.service.rotation import LogFile
    from bot.settings.settings import Settings

SERVE_HELP: Final = "The same as `run`."
LogTo = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        metavar="FILE",
        help="Write output and log there instead of here. It rotates at 10 MB; five older files are kept.",
    ),
]


def add_to(cli: typer.Typer) -> None:
    cli.command()(grouped(run))
    cli.command("serve", help=SERVE_HELP)(grouped(run))
    cli.command()(reload)


def run(
    context: typer.Context, start: StartOptions, config: ConfigFile = None, env: EnvFile = None, log_file: LogTo = None
) -> None:
    """Start Signalbox, and run until asked to stop (Ctrl-C or SIGTERM)."""
    starting = ExitStack()
    starting.enter_context(no_full_collections())
    import bot.node.lean  # noqa: F401 - before anything imports the library

    guardrails = start.guardrails()
    settings = settings_of(context, config, start.flags(), with_secrets=True).guarded_by(guardrails)
    check_model(settings, start.model)
    kept = _kept(log_file)
    from bot.telemetry import logs
    from bot.telemetry.ring import LogRing
    from bot.wiring.unused_settings import tell_unused

    logs.configure(settings.log.level, settings.log.format, settings.secret_values(), ring=LogRing())
    logs.tell_skipped(settings.chain.skipped)
    tell_unused(settings)
    run_to_end(_serve(settings, starting, kept))


def _kept(file: Path | None) -> LogFile | None:
    """The file that our output goes to from now on. Errors: ConfigError where it can't be written."""
    if file is None:
        return None
    from bot.service.rotation import LogFile

    kept = LogFile(file.absolute())
    kept.take_over()
    return kept


async def _serve(settings: Settings, starting: ExitStack, kept: LogFile | None) -> None:
    """`starting` ends with the start, and the log is `kept` in bounds."""
    import asyncio

    from bot.node.service_manager import manager_of
    from bot.server.process import serving
    from bot.settings.settings import environment

    asked, again = asyncio.Event(), asyncio.Event()
    manager = manager_of(environment(), os.getpid())
    _heed_signals(asked, settings.nodes.shutdown)
    _heed_hangup(asked, again)
    async with serving(settings, once=not _has_reader()) as ready, asyncio.TaskGroup() as group:
        starting.close()
        _greet(settings, ready)
        told = f"Ready at {ready.control.url}"
        manager.ready(told)
        duties = [
            group.create_task(_reload_when(again, ready.reload, manager, told)),
            group.create_task(manager.keep_watch()),
            group.create_task(_once_over(ready.over, asked)),
        ]
        if kept:
            duties.append(group.create_task(kept.keep()))
        await asked.wait()
        manager.stopping()
        for duty in duties:
            duty.cancel()


def _heed_signals(asked: asyncio.Event, leave_within: timedelta) -> None:
    """The first signal asks to drain; the second, or the end of patience, leaves at once: a kill is safe."""
    import asyncio

    loop = asyncio.get_running_loop()

    def heed() -> None:
        if asked.is_set():
            os._exit(1)
        asked.set()
        loop.call_later(leave_within.total_seconds(), os._exit, 1)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heed)


def _heed_hangup(asked: asyncio.Event, again: asyncio.Event) -> None:
    """SIGHUP reloads the settings; where it tells that our terminal was closed, it asks to drain."""
    import asyncio

    terminal = _terminal()

    def heed() -> None:
        if terminal is not None and _is_gone(terminal):
            asked.set()
        else:
            again.set()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, heed)


def _terminal() -> int | None:
    """The descriptor of the terminal from which we were started; None for a service."""
    return sys.stdin.fileno() if sys.stdin and not sys.stdin.closed and sys.stdin.isatty() else None


def _has_reader() -> bool:
    """True if a person reads our output now. What goes elsewhere is a log, which others may read later."""
    return bool(sys.stdout) and not sys.stdout.closed and sys.stdout.isatty()


def _is_gone(terminal: int) -> bool:
    try:
        os.tcgetpgrp(terminal)
    except OSError:
        return True
    return False


async def _once_over(over: asyncio.Event, asked: asyncio.Event) -> None:
    """A node that has drained is gone: what follows is as if it had been asked by a signal."""
    await over.wait()
    asked.set()


async def _reload_when(
    again: asyncio.Event, reload: Callable[[str], Awaitable[object]], manager: Manager, status: str
) -> None:
    while True:
        await again.wait()
        again.clear()
        manager.reloading()
        with suppress(BotError):  # the log says why
            await reload("SIGHUP")
        manager.ready(status)


def _greet(settings: Settings, ready: Ready) -> None:
    from bot.wiring.owner import ONCE_WITHIN

    url = ready.control.url
    lines = [f"Signalbox is ready at {url}"]
    anew = as_called(f"signalbox people link {quote(ready.owner)}")
    if ready.link and ready.once:
        minutes = int(ONCE_WITHIN.total_seconds() / 60)
        lines += [
            f"Open this link within {minutes} minutes; it works once: {ready.link}",
            f"For a new link at any time: {anew}",
        ]
    elif ready.link:
        lines += [f"Open your own link, and keep it to yourself: {ready.link}"]
    elif settings.web.token is None:
        lines += [f"Open it with the link you have, or make a new one: {anew}"]
    lines += settings.banners
    with suppress(OSError):  # nobody reads: that is no reason to stop
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


def reload(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Apply changed settings without a restart, all or nothing: policy, people, rooms, schedules, prompts, log level."""
    from bot.terminal.output import clean, show_json

    told = ask_operator(settings_of(context, config), lambda api: api.reload())
    if as_json:
        show_json(told)
    else:
        typer.echo(as_called("\n".join(map(clean, in_words(told)))))


def in_words(told: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [f"Changed: {', '.join(told['changed'])}." if told["changed"] else "Nothing changed."]
    if told["restart"]:
        lines.append(f"Needs a restart: {', '.join(told['restart'])}.")
    return [*lines, *(f"Note: {note}." for note in told["notes"])]
