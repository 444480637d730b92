"""News for people's browsers: questions that wait for them, and messages that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Integer, bindparam, select

from runtime.chat.inbox import OpenQuestion
from runtime.contract import Address, Content, Kind, PersonId, Role
from runtime.domain.approvals import Rights
from runtime.store.approvals.waiting.inbox import of_person
from runtime.store.common import web_identity
from runtime.store.operations.history import room_owner
from runtime.store.protocol import Duty
from runtime.store.schema import deliveries
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.web_push import subscriptions as browsers
from runtime.store.web_push.subscriptions import ANY_BROWSER, MARKED, Browser, subject_of

MENTION_SUBJECT: Final = "said:"
MENTION_LIFE: Final = timedelta(minutes=10)
"""Age at which a message that names somebody is no news any more."""
MENTIONS_MOST: Final = 500
SAID_LATELY = (
    select(deliveries.c.id, deliveries.c.address, deliveries.c.content, deliveries.c.created_at)
    .where(
        deliveries.c.created_at > bindparam("after"),
        is_word(deliveries.c.channel, "web"),
        ~is_word(deliveries.c.kind, Kind.APPROVAL),
        deliveries.c.edits.is_(None),
        deliveries.c.content.contains("@"),
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(bindparam("n", type_=Integer))
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A message of an agent that names somebody, in a conversation that they read."""

    delivery: str
    address: Address

    @property
    def subject(self) -> str:
        return f"{MENTION_SUBJECT}{self.delivery}"


@dataclass(frozen=True, slots=True)
class ToTell:
    """A browser, with what it was not told yet, oldest first."""

    browser: Browser
    questions: Sequence[OpenQuestion]
    mentions: Sequence[Mention]


def to_tell(rights: Rights, now: datetime) -> Op[list[ToTell]]:
    """Browsers with something that they were not told. Who looks at the page is told there; what names them meanwhile is read."""
    found = []
    every = yield from browsers.due(now)
    said = (yield from _said(now)) if every else {}
    waiting: dict[PersonId, tuple[list[OpenQuestion], list[Mention]]] = {}
    for browser in every:
        who = browser.person
        if who.id not in waiting:
            waiting[who.id] = (yield from of_person(who, rights, now)), (yield from _mentions(browser, said))
        questions, mentions = waiting[who.id]
        if not questions and not mentions:
            continue
        marked = {row[0] for row in (yield MARKED, {"of": browser.id})}
        new = ToTell(
            browser,
            [one for one in questions if subject_of(one.approval.id) not in marked],
            [one for one in mentions if one.subject not in marked and said[one][1] >= browser.made_at],
        )
        if new.questions or new.mentions:
            found.append(new)
    return found


def _said(now: datetime) -> Op[dict[Mention, tuple[str, int]]]:
    """Messages of late in conversations of the page, oldest first, each with its text and time."""
    rows = yield SAID_LATELY, {"after": micros(now - MENTION_LIFE), "n": MENTIONS_MOST}
    return {
        Mention(name, Address.parse(at)): (Content.from_json(content).text, made)
        for name, at, content, made in rows[::-1]
    }


def _mentions(browser: Browser, said: Mapping[Mention, tuple[str, int]]) -> Op[list[Mention]]:
    who, found = browser.person, []
    called = re.compile(rf"(?<![\w@])@{re.escape(who.name)}(?!\w)", re.IGNORECASE)
    for one, (text, _) in said.items():
        if called.search(text):
            may_read = who.role >= Role.OPERATOR or (yield from room_owner(one.address)) == web_identity(who)
            if may_read:
                found.append(one)
    return found


class WebPushStore(Base):
    """Browsers that are told what waits for their person, over an engine."""

    async def any_browser(self) -> bool:
        return await self._driver.read(_any)

    async def has_browser(self, who: PersonId) -> bool:
        return bool(await self._driver.read(lambda: browsers.of_person(who)))

    async def keep_browser(self, name: str, who: PersonId, session: str, sealed: str) -> None:
        now = self.now()
        await self._driver.write(lambda: browsers.keep(name, who, session, sealed, now))

    async def drop_browser(self, name: str, who: PersonId) -> None:
        await self._driver.write(lambda: browsers.drop_own(name, who))

    async def here(self, who: PersonId, within: timedelta | None, questions: Sequence[str]) -> None:
        """Somebody looks at the page for so long, or no longer; with the `questions` that they have seen there."""
        now = self.now()
        until = now + within if within else None
        await self._driver.write(lambda: browsers.here(who, until, questions, now))

    async def to_tell(self, rights: Rights) -> list[ToTell]:
        now = self.now()
        return await self._driver.read(lambda: to_tell(rights, now))

    async def sweep(self, duty: Duty) -> None:
        """Forget browsers whose sign-in ended, and marks that nobody needs any more."""
        now = self.now()
        if await self._driver.read(lambda: browsers.any_to_sweep(now)):
            await self._driver.write(lambda: browsers.sweep(duty, now))

    async def begin_telling(self, duty: Duty, browser: str, subject: str) -> bool:
        """Mark it before it is sent; false where that is not to be done, or no longer."""
        now = self.now()
        return await self._driver.write(lambda: browsers.begin(duty, browser, subject, now))

    async def push_taken(self, browser: str) -> None:
        await self._driver.write(lambda: browsers.taken(browser))

    async def push_not_taken(self, browser: str, subject: str, why: str, again: timedelta, *, anew: bool) -> bool:
        """True while it is not given up; `anew` is for what certainly wasn't taken."""
        now = self.now()
        return await self._driver.write(lambda: browsers.failed(browser, subject, why, now + again, anew=anew, now=now))

    async def browser_lost(self, browser: str, why: str) -> None:
        now = self.now()
        await self._driver.write(lambda: browsers.give_up(browser, why, now))


def _any() -> Op[bool]:
    return bool((yield ANY_BROWSER, {}))
