"""The whole story of a trail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runtime.contract import Address
from runtime.text.words import marked
from runtime.timeline.arrival import answers, arrivals, deed
from runtime.timeline.showing import noun, showing
from runtime.timeline.standing import standing
from runtime.timeline.trail import Trail
from runtime.timeline.words import Event, Story, Telling
from runtime.timeline.work import work


def told(trail: Trail, mask: Callable[[str], str] = str) -> Story:
    """Every transition in the order of time; those of one instant in the order of cause. `mask` hides secrets."""
    telling = Telling(trail, mask)
    events = tuple(sorted(_events(telling), key=lambda event: event.at))
    now, over = standing(telling)
    who, text = _subject(telling)
    return Story(
        about=trail.about,
        run=trail.run.id if trail.run else None,
        room=_room(trail),
        who=who,
        text=text,
        began_at=events[0].at,
        answered_at=max((one.answered_at for one in trail.signals if one.answered_at), default=None),
        now=now,
        over=over,
        events=events,
    )


def _events(telling: Telling) -> Iterator[Event]:
    yield from arrivals(telling)
    if telling.trail.run:
        yield from work(telling, telling.trail.run)
    for delivery in telling.trail.deliveries:
        yield from showing(telling, delivery)
    yield from answers(telling)


def _subject(telling: Telling) -> tuple[str, str]:
    """Subject and deed: of the message that was asked about, else of the first one, else of what is to be shown."""
    trail = telling.trail
    if trail.signals:
        one = next((signal for signal in trail.signals if signal.id == trail.about), trail.signals[0])
        return one.who, deed(telling, one)
    if trail.deliveries:
        return "Signalbox", marked("shows {message}").format(message=noun(trail.deliveries[0]))
    return trail.run.requester if trail.run else "", marked("asked for something that's no longer kept")


def _room(trail: Trail) -> Address:
    about = trail.run or (trail.signals or trail.deliveries)[0]
    return about.address
