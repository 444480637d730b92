"""Events of both ways in: stored, and only then acknowledged. What comes over HTTP passes slack-bolt first.

Bolt acknowledges an event once all middleware let it pass, before any listener runs. So the sink is called in a
middleware that answers itself and lets nothing pass: 200 when it was taken in, 503 when the store is away, which over
a socket means no acknowledgement. Slack then sends it again.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Final, Protocol

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.blocks import text_of
from adapters.slack.bot_user import BotUser
from adapters.slack.envelope import (
    Happening,
    Malformed,
    Raw,
    Sender,
    as_event,
    kind_of,
    mapping,
    place_of,
    reaction_of,
    room_of,
    said_at,
    sender_id,
    team_of,
    told_name,
    told_room_name,
)
from adapters.slack.incoming.names import Names
from adapters.slack.incoming.room_locks import RoomLocks
from adapters.slack.interactions import card_address, form_wanted, is_alone, is_home
from adapters.slack.outgoing.best_effort import BestEffort
from adapters.slack.outgoing.forms import TEXT
from adapters.slack.outgoing.homes import Homes
from adapters.slack.outgoing.notices import Notices, private_words
from adapters.slack.parse import TAKEN, parse
from adapters.slack.settings import SlackSettings
from adapters.slack.text import names_me
from adapters.slack.web import Web, sdk_log
from runtime.contract import (
    REASON,
    Address,
    ApprovalId,
    Choice,
    Clicked,
    Form,
    Identity,
    Now,
    OpenForm,
    Outcome,
    Rated,
    Said,
    Signal,
    Sink,
    Verdict,
    fitting,
)
from runtime.errors import Rejected, StoreError, Trouble

OK: Final = 200
AWAY: Final = 503
DECIDED: Final = "Your answer counts."
SPEAKERS: Final = 5_000  # rooms of which we know who spoke last
STARTED: Final = "assistant_thread_started"
HOME_OPENED: Final = "app_home_opened"
REACTION_ADDED: Final = "reaction_added"
REACTIONS: Final = frozenset({REACTION_ADDED, "reaction_removed"})
OPENED: Final = frozenset({STARTED, "assistant_thread_context_changed"})

log = logging.getLogger(__name__)


class LetsIn(Protocol):
    """Decides if an event of that place is taken in now; where not it is not acknowledged, which only what `comes_again` may be."""

    async def __call__(self, place: Address, *, comes_again: bool, to_us: bool) -> bool: ...


class Intake:
    """One account's events. `me` is set once Slack told who we are; until then nothing is taken in. `lets_in` waits for
    what was said in a place before, and is still to be read in its history. `on_store_away` is called when an event could not
    be stored since the store is away."""

    def __init__(
        self,
        settings: SlackSettings,
        *,
        web: Web,
        names: Names,
        speaking: Notices,
        homes: Homes,
        asides: BestEffort,
        now: Now,
        forms: OpenForm,
        rated: Rated,
    ) -> None:
        self.me: BotUser | None = None
        self.sink: Sink | None = None
        self.lets_in: LetsIn = _at_once
        self.on_store_away: Callable[[], None] = lambda: None
        self._who = f'Slack account "{settings.account}"'
        self._web = web
        self._names = names
        self._speaking = speaking
        self._homes = homes
        self._asides = asides
        self._now = now
        self._forms = forms
        self._rated = rated
        self._turns = RoomLocks()
        self._speakers: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.app = self._made(settings)

    def _made(self, settings: SlackSettings) -> AsyncApp:
        """Bolt, for signatures, forms and envelopes."""
        return AsyncApp(
            name="signalbox",
            client=self._web.client,
            signing_secret=settings.signing_secret,
            before_authorize=Storing(self.store),
            logger=sdk_log,
        )

    def last_speaker(self, room: str, thread: str) -> str | None:
        """Last speaker there, of those this process heard."""
        return self._speakers.get((room, thread))

    async def store(self, body: Raw) -> BoltResponse:
        """Store an event, and answer as the middleware."""
        if self.me is None or self.sink is None:
            return BoltResponse(status=AWAY, body="")
        try:
            return await self._taken(body, self.me, self.sink)
        except StoreError as error:
            log.warning("%s: not taken in, Slack will send it again: %s", self._who, error)
            if error.trouble is Trouble.AWAY:
                self.on_store_away()
            return BoltResponse(status=AWAY, body="")
        except Rejected as error:
            log.warning("%s: left out: %s", self._who, error)
        except Malformed as error:
            log.warning("%s: an event we cannot read was left out (%s)", self._who, error)
        return BoltResponse(status=OK, body="")

    async def _taken(self, body: Raw, me: BotUser, sink: Sink) -> BoltResponse:
        kind = kind_of(body)
        if kind in OPENED:
            self._welcome(kind, body)
        elif kind in REACTIONS:
            await self._react(kind, body, team_of(body, me))
        elif kind == HOME_OPENED:
            self._home_opened(body, team_of(body, me))
        elif kind not in TAKEN:
            log.debug("%s: nothing is made of %s", self._who, kind)
        elif kind == "block_actions" and (wanted := form_wanted(body)) is not None:
            await self._press_for_form(body, team_of(body, me), *wanted)
        elif await self._is_next(kind, body, team_of(body, me)):
            async with self._turns.of(room_of(body)):
                signal = parse(await self._happening(body, team_of(body, me)))
                if signal is not None:
                    return self._answered(kind, body, signal, await sink(signal))
                log.debug("%s: nothing is made of this %s", self._who, kind)
        else:
            log.info("%s: a message waits for what was said before it; Slack will send it again", self._who)
            return BoltResponse(status=AWAY, body="")
        return BoltResponse(status=OK, body="")

    async def _is_next(self, kind: str, body: Raw, me: BotUser) -> bool:
        """True if it may be taken in. What we said ourselves waits for nothing; what people press and type comes once."""
        if sender_id(body) in (me.user, me.bot):
            return True
        place, is_message = place_of(body, me), kind == "message"
        return await self.lets_in(place, comes_again=is_message, to_us=is_message and says_to(me, body))

    async def _happening(self, body: Raw, me: BotUser) -> Happening:
        user, room = sender_id(body), room_of(body)
        self._names.note(user, told_name(body))
        self._names.note_room(room, told_room_name(body))
        name, room_name = await self._names.of(user, room)
        if room.startswith("D"):
            room_name = f"@{name}"
        return Happening(body, me, Sender(user, name), self._when(body), room_name)

    def _when(self, body: Raw) -> datetime:
        """Time it was said, by our clock and never in the future; our time now if Slack does not tell it."""
        now, at = self._now(), said_at(body)
        try:
            return now if at is None else min(now, self._web.clock.ours(datetime.fromtimestamp(at, UTC)))
        except (OverflowError, ValueError, OSError):  # no time that there is
            return now

    async def take_in_history(self, message: Raw, room: str) -> None:
        """A message that was read in the history. Errors: StoreError."""
        if self.me is None or self.sink is None:
            return
        try:
            async with self._turns.of(room):
                signal = parse(await self._happening(as_event(message, room), self.me))
                if signal is not None:
                    self._remember(signal)
                    await self.sink(signal)
        except (Malformed, Rejected) as error:
            log.info("%s: a message of the history was left out: %s", self._who, error)

    # ---------------------------------------------------------------------------------------------- afterwards

    def _answered(self, kind: str, body: Raw, signal: Signal, verdict: Verdict) -> BoltResponse:
        """The acknowledgement, and what is said beside it."""
        self._remember(signal)
        if verdict.cards:
            cards = partial(self._speaking.cards, seen_at(signal), user_of(signal), verdict.cards)
            self._asides.begin(cards, "cards for one person")
        if isinstance(signal.body, Clicked):
            self._homes.changed()
            if self._told_in_place(body, signal, verdict):
                return BoltResponse(status=OK, body="")
        if verdict.notice and kind == "command":
            return BoltResponse(status=OK, body={"response_type": "ephemeral", **private_words(verdict.notice)})
        if verdict.form_stays and isinstance(signal.body, Clicked):
            first = next(iter(signal.body.values), REASON)
            return BoltResponse(status=OK, body={"response_action": "errors", "errors": {first: verdict.notice}})
        if verdict.notice:
            word = partial(self._speaking.notice, seen_at(signal), user_of(signal), verdict.notice)
            self._asides.begin(word, "a private word")
        if isinstance(signal.body, Said) and self._speaking.awaits_title(signal.address):
            title = partial(self._speaking.entitle, signal.address, signal.body.text)
            self._asides.begin(title, "the title of a thread")
        return BoltResponse(status=OK, body="")

    def _told_in_place(self, body: Raw, signal: Signal, verdict: Verdict) -> bool:
        """True if what came of a press is told where it was pressed: in a home, or in place of an ephemeral card."""
        url = body.get("response_url")
        if is_home(body):
            told = partial(self._homes.pressed, signal.address.account, user_of(signal), signal.address.room)
            self._asides.begin(partial(told, verdict.notice or ""), "a home")
        elif signal.alone and verdict.outcome is Outcome.DECIDED and isinstance(url, str) and url:
            self._asides.begin(partial(self._speaking.replaced, url, verdict.notice or DECIDED), "an ephemeral card")
        else:
            return False
        return True

    async def _react(self, kind: str, body: Raw, me: BotUser) -> None:
        """Somebody put an emoji onto a message, or took it away. Errors: Malformed, StoreError."""
        if (reacted := reaction_of(body, me, is_added=kind == REACTION_ADDED)) and sender_id(body) != me.user:
            await self._rated(reacted)

    def _home_opened(self, body: Raw, me: BotUser) -> None:
        """Errors: Malformed."""
        event = mapping(body.get("event"))
        user, room = event.get("user"), event.get("channel")
        if not (isinstance(user, str) and isinstance(room, str)):
            raise Malformed("a home has a person and their direct messages")
        if event.get("tab") == "home":
            self._asides.begin(partial(self._homes.opened, me.team, user, room), "a home")

    def _remember(self, signal: Signal) -> None:
        if isinstance(signal.body, Said) and not signal.by_bot:
            key = signal.address.room, signal.address.thread
            self._speakers[key] = user_of(signal)
            self._speakers.move_to_end(key)
            if len(self._speakers) > SPEAKERS:
                self._speakers.popitem(last=False)

    def _welcome(self, kind: str, body: Raw) -> None:
        try:
            about = body["event"]["assistant_thread"]
            room, thread = str(about["channel_id"]), str(about["thread_ts"])
        except (KeyError, TypeError) as error:
            raise Malformed(f"{type(error).__name__}: {error}") from error
        if kind == STARTED:
            self._speaking.began(room, thread)
        self._asides.begin(partial(self._speaking.suggest, room, thread), "suggestions of an assistant thread")

    async def _press_for_form(self, body: Raw, me: BotUser, approval: str, choice: Choice) -> None:
        """A form must be opened within 3 s of the press, and decides nothing by itself."""
        happened = await self._happening(body, me)
        try:
            trigger, address = str(body["trigger_id"]), card_address(happened)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Malformed(f"{type(error).__name__}: {error}") from error
        actor = happened.signal(trigger, address, Clicked(ApprovalId(approval), choice)).actor
        show = partial(self._speaking.open, trigger, address=address, alone=is_alone(body))
        opening = partial(self._open_form, ApprovalId(approval), choice, actor, address, show)
        self._asides.begin(opening, f"the form for {happened.sender.name}")

    async def _open_form(
        self,
        approval: ApprovalId,
        choice: Choice,
        actor: Identity,
        address: Address,
        show: Callable[[Form], Awaitable[None]],
    ) -> None:
        """The form, or the reason why there is none. Errors: ChannelError."""
        form = fitting(await self._forms(approval, choice, actor), TEXT)
        if isinstance(form, Form):
            await show(form)
        else:
            await self._speaking.notice(address, user_in(actor), form)


def says_to(me: BotUser, body: Raw) -> bool:
    """True if a message is for us, as far as it alone tells. Errors: Malformed."""
    try:
        return room_of(body).startswith("D") or names_me(text_of(mapping(body.get("event"))), me)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


async def _at_once(place: Address, *, comes_again: bool, to_us: bool) -> bool:
    """Nothing was missed."""
    return True


def user_of(signal: Signal) -> str:
    """Slack's id of who did it."""
    return user_in(signal.actor)


def user_in(identity: Identity) -> str:
    return identity.rpartition("/")[2]


def seen_at(signal: Signal) -> Address:
    """Place where its sender looks: a message that could begin a thread has none open yet."""
    is_root = signal.address.thread == signal.message_id
    return signal.address.whole_room if is_root else signal.address


class Storing(AsyncMiddleware):
    """Stands behind the check of signatures, and before bolt asks Slack whose token it has: an event for which it gets
    no answer to that it would acknowledge and forget."""

    def __init__(self, store: Callable[[Raw], Awaitable[BoltResponse]]) -> None:
        self._store = store

    async def async_process(
        self, *, req: AsyncBoltRequest, resp: BoltResponse, next: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        if req.body.get("type") == "url_verification":
            return await next()  # bolt answers the challenge
        return await self._store(req.body)
