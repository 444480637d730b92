"""Standing intents: triggers that people make in chat. They end by themselves, and watch the room they were made in."""

from __future__ import annotations

import glob
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

from runtime.contract import Address, Identity, Now, Person, Role, TaskActor
from runtime.contract.agents.watches import WATCHED_EVENTS, KeptWatch, WatchWish
from runtime.domain.ids import derived
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import EventKind, EventTrigger, TriggerState
from runtime.errors import ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.text.glyphs import clip

WATCH_COOLDOWN: Final = timedelta(hours=24)
WATCH_LIFE: Final = timedelta(days=90)
WATCHES_MAX: Final = 20
"""Of one person."""
WATCHED_WORDS_MAX: Final = 10
WATCHED_WORD_MAX_CHARS: Final = 60
TELL_MAX_CHARS: Final = 1_000
WATCH_ID_CHARS: Final = 6
NOBODY_WATCHES: Final = "Only people with the role user or higher can have a room watched, and they do so in that room."
TOO_MANY_WATCHES: Final = (
    f"You watch {WATCHES_MAX} things already, which is the limit. End one first: watch_list shows them."
)


class Book(Protocol):
    async def triggers_in(self, room: Address) -> list[KeptTrigger]: ...

    async def add_trigger(self, new: KeptTrigger, most: int, by: str) -> bool: ...

    async def drop_trigger(self, trigger: str, by: str) -> bool: ...


class RoomWatches:
    """Implements `contract.agents.watches.Watches`. `changed` has nodes look again; words pass the leak guard."""

    def __init__(self, *, book: Book, now: Now, changed: Callable[[], None], door: Callable[[], Door]) -> None:
        self._book = book
        self._now = now
        self._changed = changed
        self._door = door

    async def watch(self, wanted: WatchWish, by: TaskActor, agent: str) -> KeptWatch:
        who = _person(by)
        kind, words = _event(wanted.event), self._words(wanted, by.room)
        ident = derived(by.run_id, by.key)
        trigger = EventTrigger(
            id=ident,
            name=f"watch {ident[-WATCH_ID_CHARS:]}",
            on=kind,
            room=glob.escape(str(by.room.whole_room)),
            words=words,
            prompt=self._prompt(who, wanted.tell, by.room),
            agent=agent,
            cooldown=WATCH_COOLDOWN,
        )
        new = KeptTrigger(
            trigger,
            TriggerState.ACTIVE,
            str(by.room),
            owner=who,
            actor=Identity(f"web:{who.id}"),
            ends_at=self._now() + WATCH_LIFE,
        )
        if not await self._book.add_trigger(new, WATCHES_MAX, who.name):
            raise ToolRetry(TOO_MANY_WATCHES)
        self._changed()
        return told(new)

    async def listed(self, by: TaskActor) -> list[KeptWatch]:
        return [told(one) for one in await self._book.triggers_in(by.room.whole_room)]

    async def end(self, name: str, by: TaskActor) -> KeptWatch:
        who = _person(by)
        here = [one for one in await self._book.triggers_in(by.room.whole_room) if _is_called(one, name)]
        own = [one for one in here if one.owner == who or who.role >= Role.OPERATOR]
        if len(own) != 1:
            known = "Several are called so" if own else "None of yours here is called so"
            raise ToolRetry(f"{known}. watch_list shows them; name one by its id.")
        await self._book.drop_trigger(own[0].trigger.id, who.name)
        self._changed()
        return told(own[0])

    def _words(self, wanted: WatchWish, room: Address) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(" ".join(word.split()) for word in wanted.words if word.strip(" *")))
        if wanted.event == EventKind.WORDS and not words:
            raise ToolRetry("Say which words to watch for.")
        if len(words) > WATCHED_WORDS_MAX or any(len(word) > WATCHED_WORD_MAX_CHARS for word in words):
            raise ToolRetry(
                f"Watch for at most {WATCHED_WORDS_MAX} words, of {WATCHED_WORD_MAX_CHARS} characters each."
            )
        return tuple(self._clean(word, room) for word in words)

    def _prompt(self, who: Person, tell: str, room: Address) -> str:
        more = self._clean(clip(tell.strip(), TELL_MAX_CHARS), room)
        return f"Tell {who.name} in one or two sentences what happened.{f' They said: {more}' if more else ''}"

    def _clean(self, text: str, room: Address) -> str:
        door = self._door()
        return door.clean(text, Gate.HANDED_ON, door.room(room))


def told(kept: KeptTrigger) -> KeptWatch:
    one, owner = kept.trigger, kept.owner.name if kept.owner else ""
    return KeptWatch(one.id[-WATCH_ID_CHARS:], one.on.value, one.words, owner, kept.fires, kept.ends_at)


def _person(by: TaskActor) -> Person:
    """Errors: ToolRetry where nobody asked who may."""
    if by.person is None or by.person.role < Role.USER:
        raise ToolRetry(NOBODY_WATCHES)
    return by.person


def _event(name: str) -> EventKind:
    if name not in WATCHED_EVENTS:
        raise ToolRetry(f"There is no event {name[:40]!r}. There are: {', '.join(WATCHED_EVENTS)}.")
    return EventKind(name)


def _is_called(kept: KeptTrigger, name: str) -> bool:
    wanted = name.strip().lower()
    return kept.trigger.id.lower().endswith(wanted) or wanted in [word.lower() for word in kept.trigger.words]
