"""The model's client while it is loaded: nobody else waits for it, and people were told before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from runtime.contract import ModelRequest, UserTurn
from runtime.models.litellm_loading import Library
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings


class Slow:
    """Something to be loaded that takes until it is let go."""

    def __init__(self) -> None:
        self.loads = 0
        self.lean: bool | None = None
        self.let_go = threading.Event()
        self.trouble: Exception | None = None

    def load(self, lean: bool) -> Any:
        self.loads += 1
        self.lean = lean
        self.let_go.wait(60)
        if self.trouble:
            raise self.trouble
        return self


@asynccontextmanager
async def waiting(slow: Slow, count: int) -> AsyncIterator[tuple[Library, list[asyncio.Task[Any]]]]:
    library = Library(slow.load)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        try:
            yield library, [group.create_task(library.get()) for _ in range(count)]
        finally:
            slow.let_go.set()


async def test_however_many_wait_the_threads_of_the_loop_are_free() -> None:
    """They look up names, for one: a platform whose name waits is told nothing."""
    async with waiting(slow := Slow(), 100) as (library, tasks):
        async with asyncio.timeout(30):
            assert await asyncio.to_thread(lambda: "free") == "free"
        assert not library.is_loaded
        slow.let_go.set()
        assert {id(await task) for task in tasks} == {id(slow)}
    assert (slow.loads, library.is_loaded) == (1, True)


async def test_who_gives_up_waiting_ends_it_for_nobody() -> None:
    async with waiting(slow := Slow(), 2) as (_, (first, second)):
        await asyncio.sleep(0)
        first.cancel()
        slow.let_go.set()
        assert await second is slow


async def test_after_a_failure_the_next_one_tries_anew() -> None:
    slow = Slow()
    slow.let_go.set()
    slow.trouble = ImportError("no space left")
    library = Library(slow.load)
    with pytest.raises(ImportError, match="no space left"):
        await library.get()
    slow.trouble = None
    assert await library.get() is slow
    assert slow.loads == 2


async def test_people_are_told_before_the_load_begins() -> None:
    told: list[tuple[str, int]] = []
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        slow = Slow()
        model = LiteModel(ModelSettings("openai/mock"), library=Library(slow.load))
        request = ModelRequest("", [UserTurn("hi")], [])
        task = group.create_task(model.reply(request, lambda text: told.append((text, slow.loads))))
        while not slow.loads:  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0.01)
        task.cancel()
        slow.let_go.set()
    assert told == [("", 0)]


async def test_the_setting_of_who_loads_it_first_decides() -> None:
    slow = Slow()
    slow.let_go.set()
    slow.trouble = ImportError("enough")
    model = LiteModel(ModelSettings("openai/mock", lean=False), library=Library(slow.load))
    with pytest.raises(ImportError, match="enough"):
        await model.reply(ModelRequest("", [UserTurn("hi")], []), lambda text: None)
    assert (slow.loads, slow.lean) == (1, False)
