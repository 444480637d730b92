"""Browsers that are told what waits: encrypted, by a sender who is known, at most once over kills, and only while signed in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import count

import pytest
from yarl import URL

from bot.push.telling import TELL_ROLE, WEB_PUSH_TOOL, BrowserTelling
from bot.push.vapid import BrowserAddress, Vapid
from bot.push.words import Words
from bot.wiring.events.pushes import PushWay
from runtime.contract import Choice, Identity, Person, Probe, no_probe
from runtime.domain.approvals import Rights
from runtime.domain.ids import digest
from runtime.egress import Egress, Opening, Result, Rule
from runtime.guard.sealing import Sealer
from runtime.policy.terms import Terms
from runtime.store.web_push.subscriptions import BROWSERS_A_PERSON, MARK_LIFE, TELL_TRIES_MAX, Browser
from tests.contract.store.stage import ADA, OTTO, ROOM, SHELL, UMA, VERA, WRITE, Parked, Stage
from tests.fakes.push_service import FakeBrowser, PushService, push_service, unpadded

SEALER = Sealer(b"k" * 32)
SUBJECT = "mailto:ops@example.org"
MONTH = timedelta(days=30)


class Killed(BaseException):
    """The process is gone."""


def killed_at(point: str) -> Probe:
    def probe(reached: str) -> None:
        if reached == point:
            raise Killed

    return probe


@dataclass
class Told:
    """A store, a push service, and people with browsers there."""

    stage: Stage
    service: PushService
    links: count[int]
    said: Words = "short"

    async def person(self, identity: Identity) -> Person:
        who = await self.stage.store.people.identified(identity)
        assert who is not None
        return who

    async def browser(self, of: Identity, name: str = "phone", token: str = "") -> FakeBrowser:
        """A browser of theirs, signed in by a link."""
        who, made = await self.person(of), self.service.browser(name)
        link = token or f"link-{next(self.links)}"
        if not token:
            await self.stage.store.people.set_link(who.name, link, actor="test")
        await self.keep(who, made.address, link)
        return made

    async def keep(self, who: Person, address: BrowserAddress, token: str) -> None:
        name = digest(address.endpoint)
        sealed = SEALER.seal(address.as_text(), Browser.about_of(name))
        await self.stage.store.web_push.keep_browser(name, who.id, digest(token), sealed)

    async def look(self, probe: Probe = no_probe, openings: tuple[Opening, ...] | None = None) -> None:
        """Tell all browsers, as a process does that began now."""
        store, telling = self.stage.store, self.telling(probe, openings)
        duty = await self.stage.duty(TELL_ROLE)
        self.service.now = self.stage.clock().timestamp()
        await store.web_push.sweep(duty)
        for one in await store.web_push.to_tell(Rights()):
            await telling.tell(duty, one)

    def telling(self, probe: Probe, openings: tuple[Opening, ...] | None = None) -> BrowserTelling:
        here = (Opening.parse(URL(self.service.url).authority),) if openings is None else openings
        rule = Rule(Result.ALLOW, WEB_PUSH_TOOL, method="POST", public=not here)
        way = PushWay(Egress([rule], allow=here), lambda: SEALER)
        return BrowserTelling(
            store=self.stage.store.web_push,
            way=lambda: way,
            vapid=cache(lambda: Vapid(SEALER, SUBJECT)),
            said=self.said,
            rights=Rights,
            take=lambda role: self.stage.store.cluster.take(self.stage.lease, role),
            rung=_never(),
            now=self.stage.clock,
            probe=probe,
        )

    async def left(self) -> int:
        return len(await self.stage.rows("SELECT id FROM push_subscriptions"))


async def _never() -> AsyncIterator[str]:
    return
    yield ""


@pytest.fixture
async def told(stage: Stage) -> AsyncIterator[Told]:
    async with push_service(now=stage.clock().timestamp(), subject=SUBJECT) as service:
        yield Told(stage, service, count(1))


def link_of(parked: Parked) -> str:
    return f"/#/approvals/{parked.approvals[0]}"


async def test_each_browser_of_those_who_may_decide_is_told_once(told: Told) -> None:
    phone, desk = await told.browser(ADA), await told.browser(ADA, "desk", token="link-1")
    others, nobody = await told.browser(OTTO, "otto"), await told.browser(UMA, "uma")
    parked = await told.stage.park(SHELL)
    await told.look()
    await told.look()
    title = "A question waits for your approval."
    wanted = {"kind": "approval", "title": title, "link": link_of(parked), "ttl": 12 * 3600}
    assert phone.told == desk.told == others.told == [wanted]
    assert (nobody.told, len(told.service.keys)) == ([], 1)
    assert 0 < len(phone.topics[0]) <= 32


@pytest.mark.parametrize(("point", "times"), [("marked to tell", 0), ("told", 1)])
async def test_a_kill_tells_nothing_twice(told: Told, point: str, times: int) -> None:
    phone = await told.browser(ADA)
    await told.stage.park(SHELL)
    with pytest.raises(Killed):
        await told.look(killed_at(point))
    await told.look()
    assert len(phone.told) == times


async def test_nobody_is_told_who_looks_at_the_page_nor_of_what_they_saw_there(told: Told) -> None:
    phone, who, store = await told.browser(ADA), await told.person(ADA), told.stage.store.web_push
    parked = await told.stage.park(SHELL)
    await store.here(who.id, timedelta(seconds=45), [])
    await told.look()
    assert phone.told == []
    await store.here(who.id, None, parked.approvals)
    await told.look()
    assert phone.told == []
    later = await told.stage.park(WRITE, at=replace(ROOM, room="r9"))
    await told.look()
    assert [one["link"] for one in phone.told] == [link_of(later)]


async def test_what_nobody_asked_leaves_no_mark(told: Told) -> None:
    await told.browser(ADA)
    who = await told.person(ADA)
    await told.stage.store.web_push.here(who.id, None, [f"nothing{n}" for n in range(100)])
    assert await told.stage.rows("SELECT subject FROM push_marks") == []


async def test_what_somebody_was_told_in_a_browser_the_next_one_there_wasnt(told: Told) -> None:
    """Two people who share a browser, one after the other: its subscription stays the same."""
    phone, otto = await told.browser(ADA), await told.person(OTTO)
    await told.stage.park(SHELL)
    await told.look()
    await told.stage.store.people.set_link(otto.name, "link-otto", actor="test")
    await told.keep(otto, phone.address, "link-otto")
    await told.look()
    assert len(phone.told) == 2


async def test_who_stops_looking_without_a_word_is_told_after_a_while(told: Told) -> None:
    phone, who = await told.browser(ADA), await told.person(ADA)
    await told.stage.store.web_push.here(who.id, timedelta(seconds=45), [])
    await told.stage.park(SHELL)
    await told.look()
    told.stage.clock.advance(seconds=46)
    await told.look()
    assert len(phone.told) == 1


async def test_a_decided_question_is_told_to_nobody(told: Told) -> None:
    phone = await told.browser(ADA)
    parked = await told.stage.park(SHELL)
    await told.stage.click(parked.approvals[0], Choice.DENY)
    await told.look()
    assert phone.told == []


async def test_full_words_tell_who_and_what_but_never_the_call_and_nothing_where_its_card_stays_in_its_room(
    told: Told,
) -> None:
    told.said, phone = "full", await told.browser(ADA)
    await told.stage.park(SHELL, actor=OTTO)
    kept = await told.stage.park(SHELL, actor=OTTO, at=replace(ROOM, room="r9"))
    await told.stage.write(
        "UPDATE approvals SET terms = :terms WHERE id = :id", terms=Terms(to=("room",)).to_json(), id=kept.approvals[0]
    )
    await told.stage.write("UPDATE approvals SET requester_name = 'Otto', card = :card", card='{"room": "#kitchen"}')
    await told.look()
    titles = [one["title"] for one in phone.told]
    assert titles == ["Otto needs approval for shell in #kitchen.", "A question waits for your approval."]
    assert "uname" not in str(phone.told)


async def test_a_message_that_names_somebody_is_told_to_those_who_read_its_conversation(told: Told) -> None:
    phone, other = await told.browser(ADA), await told.browser(VERA, "vera")
    said = await told.stage.enqueue("Over to you, @ada: the report is ready. @Vera knows.")
    await told.stage.enqueue("Write to ops@adamant.example, @adamant.")
    await told.look()
    await told.look()
    assert [(one["kind"], one["title"], one["link"]) for one in phone.told] == [
        ("mention", "You were mentioned.", f"/#r1/{said}.1")
    ]
    assert other.told == []  # she doesn't read that room
    told.stage.clock.advance(seconds=11 * 60)
    await told.browser(OTTO, "otto")
    await told.look()
    assert len(phone.told) == 1


async def test_the_link_about_a_message_leads_to_it(told: Told) -> None:
    phone = await told.browser(ADA)
    await told.stage.enqueue("Over to you, @ada.")
    await told.stage.drain()
    await told.look()
    [one] = phone.told
    room, _, entry = one["link"].removeprefix("/#").partition("/")
    view = await told.stage.store.history.view(replace(ROOM, room=room), around=entry)
    assert [shown.id for shown in view.entries] == [entry]


@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_is_gone_is_forgotten(told: Told, status: int) -> None:
    phone = await told.browser(ADA)
    phone.status = status
    await told.stage.park(SHELL)
    await told.look()
    assert await told.left() == 0
    ((_, _, why),) = await told.stage.audit("browser dropped")
    assert why == f"Its push service answered {status}."


async def test_a_push_service_that_takes_nothing_is_asked_again_later_and_given_up_at_last(told: Told) -> None:
    phone = await told.browser(ADA)
    phone.status = 503
    await told.stage.park(SHELL)
    await told.look()
    phone.status = 201
    await told.look()  # not yet
    assert phone.told == []
    told.stage.clock.advance(seconds=31)
    await told.look()
    assert len(phone.told) == 1
    phone.status = 500
    for _ in range(TELL_TRIES_MAX):
        await told.stage.park(WRITE, at=replace(ROOM, room=f"r{next(told.links) + 10}"))
        await told.look()
        told.stage.clock.advance(seconds=4 * 3600)
    assert await told.left() == 0


async def test_a_service_that_may_have_taken_it_is_not_asked_again(told: Told) -> None:
    phone = await told.browser(ADA)
    phone.status = 400
    await told.stage.park(SHELL)
    await told.look()
    phone.status = 201
    told.stage.clock.advance(seconds=3600)
    await told.look()
    assert phone.told == []


async def test_nothing_is_sent_into_private_places(told: Told) -> None:
    phone = await told.browser(ADA)
    await told.stage.park(SHELL)
    await told.look(openings=())
    assert (phone.told, await told.left()) == ([], 0)
    ((_, _, why),) = await told.stage.audit("browser dropped")
    assert why.startswith("Not sent: ")


async def test_who_signs_out_takes_their_browsers_along(told: Told) -> None:
    phone, who = await told.browser(ADA), await told.person(ADA)
    await told.stage.store.people.sign_out(who.name, actor="test")
    await told.stage.park(SHELL)
    await told.look()
    assert (phone.told, await told.left()) == ([], 0)
    assert await told.stage.rows("SELECT subject FROM push_marks") == []


async def test_a_person_who_is_removed_takes_their_browsers_along(told: Told) -> None:
    await told.browser(UMA)
    await told.stage.store.people.remove("Uma", actor="test")
    assert await told.left() == 0


async def test_a_browser_may_be_dropped_by_its_person_alone(told: Told) -> None:
    phone, who, other = await told.browser(ADA), await told.person(ADA), await told.person(OTTO)
    name = digest(phone.endpoint)
    await told.stage.store.web_push.drop_browser(name, other.id)
    assert await told.left() == 1
    await told.stage.store.web_push.drop_browser(name, who.id)
    assert await told.left() == 0


async def test_what_was_told_long_ago_and_what_a_browser_was_told_that_is_gone_is_not_kept(told: Told) -> None:
    phone, desk = await told.browser(ADA), await told.browser(ADA, "desk", token="link-1")
    await told.stage.park(SHELL)
    await told.look()
    assert [len(one.told) for one in (phone, desk)] == [1, 1]
    await told.stage.store.web_push.drop_browser(digest(desk.endpoint), (await told.person(ADA)).id)
    assert await told.stage.rows("SELECT subscription FROM push_marks") == [(digest(phone.endpoint),)]
    told.stage.clock.advance(seconds=(MARK_LIFE + MONTH).total_seconds())
    await told.look()
    assert await told.stage.rows("SELECT subscription FROM push_marks") == []
    assert await told.left() == 1, "nobody has signed out"


async def test_a_person_has_so_many_browsers_at_most(told: Told) -> None:
    who = await told.person(ADA)
    await told.browser(ADA)
    for number in range(BROWSERS_A_PERSON + 3):
        told.stage.clock.advance(seconds=1)
        await told.browser(ADA, f"more-{number}", token="link-1")
    assert await told.left() == BROWSERS_A_PERSON
    assert who.name == "Ada"


async def test_an_address_that_only_another_key_opens_is_given_up(told: Told) -> None:
    phone, who = await told.browser(ADA), await told.person(ADA)
    sealed = Sealer(b"x" * 32).seal(phone.address.as_text(), Browser.about_of("moved"))
    await told.stage.store.web_push.keep_browser("moved", who.id, digest("link-1"), sealed)
    await told.stage.park(SHELL)
    await told.look()
    assert (len(phone.told), await told.left()) == (1, 1)


async def test_keys_that_no_browser_has_keep_nobody_else_from_being_told(told: Told) -> None:
    """A row may hold what libraries fail at: 65 bytes that are no point of the curve, or a port that is none."""
    phone, who = await told.browser(ADA), await told.person(ADA)
    good, wrong = phone.address, unpadded(b"\x04" + b"\x01" * 64)
    for endpoint, point in (("/bad", wrong), (":99999/port", good.p256dh), (":abc/port", good.p256dh)):
        text = json.dumps({"endpoint": f"https://push.example.org{endpoint}", "p256dh": point, "auth": good.auth})
        sealed = SEALER.seal(text, Browser.about_of(digest(endpoint)))
        await told.stage.store.web_push.keep_browser(digest(endpoint), who.id, digest("link-1"), sealed)
    await told.stage.park(SHELL)
    await told.look()
    assert len(phone.told) == 1
    assert await told.left() == 1


async def test_a_fault_of_ours_puts_one_browser_off_and_ends_nothing(told: Told) -> None:
    await told.browser(ADA)
    await told.stage.park(SHELL)
    telling, duty = told.telling(killing_by(ZeroDivisionError)), await told.stage.duty(TELL_ROLE)
    (one,) = await told.stage.store.web_push.to_tell(Rights())
    await telling._kept(duty, one)
    assert await told.stage.rows("SELECT tries, due_at > 0 FROM push_subscriptions") == [(1, True)]


def killing_by(error: type[Exception]) -> Probe:
    def probe(_: str) -> None:
        raise error

    return probe
