"""An interceptor of a package, called in this process."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeGuard

import structlog

from runtime.contract.agents.interceptors import Answer, AnswerKind, Interceptor, InterceptorFailed, Occasion

log = structlog.get_logger("interceptors")

ANSWER_TIMEOUT: Final = timedelta(seconds=5)
HANGING_MAX: Final = 4
"""Threads of one interceptor that may hang: nothing ends a thread, and more of them would only hang too."""


class InProcess:
    """Implements `Judge`. A coroutine runs in the loop, and a plain function in a thread of its own."""

    def __init__(self, call: Interceptor, *, limit: timedelta = ANSWER_TIMEOUT) -> None:
        self._call: Any = call
        self._limit = limit.total_seconds()
        own = getattr(call, "__call__", None)  # noqa: B004 - an object's own, which may be a coroutine function
        self._is_async = inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(own)
        self._hanging = 0

    async def ask(self, occasion: Occasion) -> Answer:
        occasion = replace(occasion, values=deepcopy(occasion.values))  # else it could change them and not say so
        try:
            async with asyncio.timeout(self._limit):
                answer = await (self._call(occasion) if self._is_async else self._in_thread(occasion))
        except TimeoutError:
            raise InterceptorFailed(f"it gave no answer within {self._limit:g} seconds") from None
        except InterceptorFailed:
            raise
        except Exception as error:
            # A package's bug must not end the run: what it means is set for the interceptor.
            log.exception("an interceptor broke")
            raise InterceptorFailed(f"it broke ({type(error).__name__})") from error
        if not _is_whole(answer):
            raise InterceptorFailed("what it answered is no Answer")
        return answer

    async def _in_thread(self, occasion: Occasion) -> object:
        """Not in the pool that others share, and never waited for at the end of the process."""
        if self._hanging >= HANGING_MAX:
            raise InterceptorFailed(f"{HANGING_MAX} earlier calls of it still hang")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[object] = loop.create_future()

        def settle(answer: object, error: BaseException | None) -> None:
            self._hanging -= 1
            if not future.done():
                future.set_exception(error) if error else future.set_result(answer)

        def work() -> None:
            answer, error = None, None
            try:
                answer = self._call(occasion)
            except Exception as raised:  # noqa: BLE001 - handed to whoever waits
                error = raised
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, answer, error)

        self._hanging += 1
        threading.Thread(target=work, name="interceptor", daemon=True).start()
        return await future


def _is_whole(answer: object) -> TypeGuard[Answer]:
    """True for an answer with the right things in it: nobody has checked what a package makes."""
    return (
        isinstance(answer, Answer)
        and isinstance(answer.kind, AnswerKind)
        and isinstance(answer.reason, str)
        and isinstance(answer.values, Mapping)
    )
