"""One process at work: it owns the data folder, tells where it listens, and drains when it is asked to leave."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.node.lock import Control, announce_again, announced, holding
from bot.server.app import App, build
from bot.settings.settings import Settings
from bot.wiring.owner import owner_name, settle_owner
from runtime.errors import BotError, ConfigError

PROCESS_LOOK_INTERVAL: Final = timedelta(seconds=1)

MakeApp = Callable[[Settings], Awaitable[App]]


@dataclass(frozen=True, slots=True)
class Ready:
    """`link` opens the page as the `owner`; it is there only at the start that made it, and works `once` or for good.

    `reload` reads the settings again, on behalf of whoever is named. Errors: BotError; then nothing has changed.
    `over` is set once the process has left by itself, since an operator asked its node to.
    """

    control: Control
    link: str | None
    once: bool
    owner: str
    reload: Callable[[str], Awaitable[object]]
    over: asyncio.Event


@asynccontextmanager
async def serving(
    settings: Settings, *, make: MakeApp = build, with_link: bool = True, once: bool = False
) -> AsyncIterator[Ready]:
    """A process that is ready inside the block and has drained after it.

    `make` builds it (tests add channels of their own); `with_link`: somebody will read the link,
    which is for one use with `once`.

    Errors: ConfigError when it cannot listen or another process owns the data folder; StoreError from the store. What
    ends the process in the middle of the block cancels the block.
    """
    with holding(settings.data_dir):
        app = await make(settings)
        token, owner = await _first_link(app, settings, with_link=with_link, once=once)
        try:
            async with asyncio.TaskGroup() as group:
                url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
                task, over = group.create_task(app.run(on_ready=url.set_result), name="signalbox"), asyncio.Event()
                task.add_done_callback(lambda _: over.set())
                flags = settings.flags.as_json() if settings.flags else {}
                control = Control(await url, app.control_token, os.getpid(), flags)
                with announced(settings.data_dir, control):
                    found = group.create_task(_stay_found(settings, control))
                    link = f"{settings.web.public_url or control.url}/link/{token}" if token else None
                    yield Ready(control, link, once, owner, app.reload, over)
                    found.cancel()
                task.cancel()
        except BaseExceptionGroup as group:
            raise _first(group, settings) from group


async def _stay_found(settings: Settings, control: Control) -> None:
    """Until cancelled, see that commands find us, whatever becomes of the folder."""
    while True:
        await asyncio.sleep(PROCESS_LOOK_INTERVAL.total_seconds())
        with suppress(OSError, BotError):
            announce_again(settings.data_dir, control)


async def _first_link(app: App, settings: Settings, *, with_link: bool, once: bool) -> tuple[str | None, str]:
    """See to the owner before the first message can come in; the token of their link if made just now, and their name."""
    token = settings.web.token.get_secret_value() if settings.web.token else None
    try:
        made = await settle_owner(app.store.people, app.owners, token, with_link=with_link, once=once)
        return made, await owner_name(app.store.people)
    except BaseException:
        await app.store.close()
        raise


def _first(group: BaseExceptionGroup[BaseException], settings: Settings) -> BaseException:
    """The error that an operator can do something about; the whole group when it is more than that."""
    ours, rest = group.split((BotError, OSError))
    if ours is None or rest is not None:
        return group
    error: BaseException = ours
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return _listening_fault(error, settings)


def _listening_fault(error: BaseException, settings: Settings) -> BaseException:
    """Fault that keeps us from listening, as the setting to change; any other error as it is."""
    host, port = settings.web.host, settings.web.port
    match error:
        case OSError(errno=errno.EADDRINUSE):
            return ConfigError(
                f"web.port: {port} on {host} is in use by another program. Stop that one, or choose another port: "
                "set web.port, or start with --port 0 to take a free one."
            )
        case OSError(errno=errno.EACCES | errno.EPERM) if port:
            return ConfigError(f"web.port: this user may not listen on port {port}. Choose one above 1023.")
        case socket.gaierror() | OSError(errno=errno.EADDRNOTAVAIL):
            return ConfigError(f'web.host: "{host}" is not an address of this machine. Use 127.0.0.1 or 0.0.0.0.')
        case _:
            return error
