"""Tells people's browsers what waits for them: one node does, after all was committed, and never on a message's way.

What is told is marked before it is sent, so that a kill in between tells nothing twice. A push service that certainly took
nothing is asked again later; one that may have taken it is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog

from bot.push import words
from bot.push.vapid import BrowserAddress, Vapid, is_library_here
from bot.push.words import Words
from bot.wiring.events.pushes import PushWay
from runtime.cluster.notifier import rung
from runtime.contract import Now, Probe, no_probe
from runtime.domain.approvals import Rights
from runtime.domain.ids import digest
from runtime.egress import NoAnswer, Refused
from runtime.errors import StoreError
from runtime.guard.sealing import Unsealable
from runtime.store.protocol import Duty
from runtime.store.web_push.store import ToTell, WebPushStore
from runtime.store.web_push.subscriptions import Browser, subject_of

TELL_ROLE: Final = "browser notifications"
WEB_PUSH_TOOL: Final = "web_push"
"""Name by which rules of the way out know what is sent to push services."""
TELL_LOOK: Final = timedelta(seconds=15)
"""Longest time until somebody is told: new questions ring, and mentions don't."""
TELL_TIMEOUT: Final = timedelta(seconds=20)
TELL_ANSWER_MAX_BYTES: Final = 2_000
TELL_FIRST_WAIT: Final = timedelta(seconds=30)
TELL_LONGEST_WAIT: Final = timedelta(hours=4)
TOLD_AT_ONCE: Final = 5
"""Notifications of one browser in one look: more of them at once are no help to anybody."""
TOPIC_CHARS: Final = 32
UNEXPECTED: Final = "It could not be told. The log has the reason."
BROWSER_GONE: Final = (404, 410)
SERVICE_BUSY: Final = (408, 425, 429)
log = structlog.get_logger("push")


class BrowserTelling:
    """Tells every browser, each on its own: a push service that hangs keeps no other waiting."""

    def __init__(
        self,
        *,
        store: WebPushStore,
        way: Callable[[], PushWay],
        vapid: Callable[[], Vapid],
        said: Words,
        rights: Callable[[], Rights],
        take: Callable[[str], Awaitable[Duty | None]],
        rung: AsyncIterator[str],
        now: Now,
        probe: Probe = no_probe,
    ) -> None:
        self._store = store
        self._way = way
        self._vapid = vapid
        self._said = said
        self._rights = rights
        self._take = take
        self._rung = rung
        self._now = now
        self._probe = probe
        self._busy: set[str] = set()

    async def run(self) -> None:
        """Serve until cancelled. Any number of nodes may run it: one has the duty."""
        if not is_library_here():
            log.warning("people can't be told in their browsers: the extra `push` isn't installed")
            await asyncio.Event().wait()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    duty = await self._take(TELL_ROLE) if await self._store.any_browser() else None
                    if duty is not None:
                        await self._begin(group, duty)
                except StoreError as error:
                    log.debug("notifications wait", reason=str(error))
                await rung(self._rung, TELL_LOOK.total_seconds())

    async def _begin(self, group: asyncio.TaskGroup, duty: Duty) -> None:
        await self._store.sweep(duty)
        for one in await self._store.to_tell(self._rights()):
            if one.browser.id not in self._busy:
                self._busy.add(one.browser.id)
                group.create_task(self._kept(duty, one))

    async def _kept(self, duty: Duty, one: ToTell) -> None:
        try:
            await self.tell(duty, one)
        except StoreError as error:
            log.debug("a notification waits", reason=str(error))
        except Exception:  # one browser must not end the telling of all others
            log.exception("a browser could not be told", browser=one.browser.id)
            await self._put_off(one.browser)
        finally:
            self._busy.discard(one.browser.id)

    async def _put_off(self, browser: Browser) -> None:
        with suppress(StoreError):  # then it fails once more, and is put off then
            await self._store.push_not_taken(browser.id, "", UNEXPECTED, _delay(browser.tries), anew=False)

    async def tell(self, duty: Duty, one: ToTell) -> None:
        """Tell a browser what it was not told, as far as it takes that. Errors: StoreError."""
        if one.browser.is_looking:
            for mention in one.mentions:  # the page shows them
                await self._store.begin_telling(duty, one.browser.id, mention.subject)
            return
        try:
            sealed = self._way().sealer().open(one.browser.sealed, one.browser.about_of(one.browser.id))
            address = BrowserAddress.of_text(sealed)
        except (Unsealable, ValueError):
            await self._store.browser_lost(one.browser.id, "Its address was sealed with another key.")
            return
        now = self._now()
        news = [
            *(
                (subject_of(ask.approval.id), words.of_question(ask, self._said, now), words.lasts(ask, now))
                for ask in one.questions
            ),
            *((said.subject, words.of_mention(said), words.MENTION_TTL) for said in one.mentions),
        ]
        for subject, told, lasts in news[:TOLD_AT_ONCE]:
            if not await self._store.begin_telling(duty, one.browser.id, subject):
                return
            self._probe("marked to tell")
            if not await self._sent(one, address, subject, told, lasts):
                return

    async def _sent(
        self, one: ToTell, address: BrowserAddress, subject: str, told: dict[str, str], lasts: timedelta
    ) -> bool:
        """False where this browser takes no more for now."""
        browser, again = one.browser, _delay(one.browser.tries)
        try:
            answer = await self._way().egress.request(
                "POST",
                address.endpoint,
                tool=WEB_PUSH_TOOL,
                headers=self._headers(address, subject, lasts),
                body=self._vapid().sealed_for(address, told),
                most=TELL_ANSWER_MAX_BYTES,
                timeout=TELL_TIMEOUT,
            )
        except Refused as error:
            await self._store.browser_lost(browser.id, str(error))
            return False
        except NoAnswer as error:
            await self._store.push_not_taken(browser.id, subject, str(error), again, anew=not error.sent)
            return False
        self._probe("told")
        if 200 <= answer.status < 300:
            await self._store.push_taken(browser.id)
            return True
        if answer.status in BROWSER_GONE:
            await self._store.browser_lost(browser.id, f"Its push service answered {answer.status}.")
            return False
        why, is_busy = (
            f"Its push service answered {answer.status}.",
            answer.status in SERVICE_BUSY or answer.status >= 500,
        )
        await self._store.push_not_taken(browser.id, subject, why, again, anew=is_busy)
        return False

    def _headers(self, address: BrowserAddress, subject: str, lasts: timedelta) -> dict[str, str]:
        return {
            **self._vapid().proof(address, self._now()),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(int(lasts.total_seconds())),
            "Urgency": "high",
            "Topic": digest(subject)[:TOPIC_CHARS],
        }


def _delay(tries: int) -> timedelta:
    """Twice as long each time."""
    seconds = min(TELL_FIRST_WAIT.total_seconds() * 2.0**tries, TELL_LONGEST_WAIT.total_seconds())
    return timedelta(seconds=seconds)
