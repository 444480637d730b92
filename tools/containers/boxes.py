"""Runs commands in containers, each by a name that is known beforehand, and ends each for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Final

import structlog

from runtime.errors import ToolFailed
from tools.containers.engines import (
    ContainerTerms,
    Engine,
    bounds_argv,
    end_argv,
    engine_of,
    environment,
    globals_of,
    start_argv,
    unbounded,
)
from tools.containers.kept_names import KeptNames
from tools.kit.process import Ended, capture
from tools.sandbox.launcher import Order
from tools.sandbox.sandbox import Provided

ENGINE_ASKED_TIMEOUT: Final = timedelta(seconds=20)
ENGINE_SAID_MAX_CHARS: Final = 2_000
EXIT_OF_ENGINE: Final = 125
"""Exit code of both programs where they couldn't start a container; 126 and 127 are about its program."""
ENGINE_WORDS: Final = ("Error:", "docker:")
CONTAINER_GONE: Final = "no such container"

log = structlog.get_logger("containers")


class Containers:
    """Containers of this machine. Nothing of it is looked for before the first command."""

    def __init__(self, terms: ContainerTerms) -> None:
        self.terms = terms
        self._names = KeptNames(terms.kept)
        self._testing = asyncio.Lock()
        self._engine: Engine | None = None

    async def works(self) -> Engine:
        """The program, which can set every bound. Errors: ToolFailed says what is missing."""
        async with self._testing:
            if self._engine is None:
                engine = engine_of(self.terms)
                told = await self._ask(engine, bounds_argv(engine, self.terms))
                if told.code != 0:
                    raise ToolFailed(f"Containers are off: {engine.kind} doesn't work here. {_words(told)}")
                if missing := unbounded(engine, told.text):
                    raise ToolFailed(f"Containers are off: {engine.kind} can't bound {missing} here.")
                self._engine = engine
        return self._engine

    async def has(self, image: str) -> bool:
        """True if `image` is on this machine. Errors: ToolFailed."""
        engine = await self.works()
        argv = [*globals_of(engine, self.terms), "image", "inspect", "--format", "{{.Id}}", image]
        return (await self._ask(engine, argv)).code == 0

    async def run(self, image: str, command: str, workspace: Path, *, limit: int, writes: int) -> Ended:
        """Run a shell command in a new container. It is gone when this returns, also by cancellation. Errors: ToolFailed."""
        engine = await self.works()
        await self.sweep()
        name = f"signalbox-{token_hex(8)}"
        argv = start_argv(
            engine, self.terms, name=name, image=image, command=command, workspace=workspace, writes=writes
        )
        with self._names.kept(name) as hold:
            try:
                ended = await capture(
                    argv, cwd=Path("/"), deadline=self.terms.timeout, limit=limit, env=environment(engine)
                )
                hold.is_over = not ended.timed_out and ended.code < EXIT_OF_ENGINE  # it was removed as it ended
            except OSError as error:
                raise ToolFailed(f"{engine.kind} could not be started: {error.strerror}.") from error
            finally:
                hold.is_over = hold.is_over or await self._end(engine, name)
        if ended.code == EXIT_OF_ENGINE and ended.text.lstrip().startswith(ENGINE_WORDS):
            raise ToolFailed(f"The container was not started, and nothing was run. {_words(ended)}")
        return ended

    async def sweep(self) -> int:
        """End what killed processes left; how many containers. One that can't be ended now is tried again later."""
        with self._names.leftovers() as left:
            if not left:
                return 0
            engine = engine_of(self.terms)
            for name, hold in left:
                hold.is_over = await self._end(engine, name)
            return sum(hold.is_over for _, hold in left)

    async def _end(self, engine: Engine, name: str) -> bool:
        """True if it is certainly gone."""
        try:
            told = await self._ask(engine, end_argv(engine, self.terms, name))
        except ToolFailed as error:
            log.warning("a container may still run", container=name, reason=str(error))
            return False
        if told.code == 0 or CONTAINER_GONE in told.text.lower():
            return True
        log.warning("a container may still run", container=name, reason=_words(told))
        return False

    async def _ask(self, engine: Engine, argv: Sequence[str]) -> Ended:
        try:
            return await capture(
                argv,
                cwd=Path("/"),
                deadline=ENGINE_ASKED_TIMEOUT,
                limit=ENGINE_SAID_MAX_CHARS,
                env=environment(engine),
            )
        except OSError as error:
            raise ToolFailed(f"{engine.kind} could not be started: {error.strerror}.") from error


class ImageSandbox:
    """A Sandbox made of containers of one image."""

    caution = ""
    has_network = False

    def __init__(self, containers: Containers, image: str) -> None:
        self._containers = containers
        self._image = image

    async def self_test(self) -> str | None:
        try:
            await self._containers.works()
        except ToolFailed as error:
            return str(error)
        return None

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        if provided is not None:
            raise ToolFailed("A container is handed nothing but the workspace.")
        largest = self._containers.terms.file_mib << 20
        bound = largest if writes is None else min(writes, largest)
        return await self._containers.run(self._image, command, workspace, limit=limit, writes=bound)

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        raise ToolFailed("A container lives as long as its command.")


def _words(told: Ended) -> str:
    words = " ".join(told.text.split())[-500:]
    return words or ("It took too long." if told.timed_out else f"It ended with exit code {told.code}.")
