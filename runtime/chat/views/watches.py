"""Lines of `/schedules` about what people want to be told of in a room. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.domain.agents.tasks import plain, short_id
from runtime.domain.triggers.firing import WORDS_FOR
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import EventKind, TriggerState
from runtime.text.words import moment, say, several


def lines(kept: Sequence[KeptTrigger]) -> list[str]:
    """Each standing intent in a line."""
    return [_line(one) for one in kept]


def _line(kept: KeptTrigger) -> str:
    trigger = kept.trigger
    said = say(" or ").join(f'"{plain(word)}"' for word in trigger.words)
    about = say("somebody says {said}", said=said) if trigger.on is EventKind.WORDS else WORDS_FOR[trigger.on]
    parts = [say("**when {about}**", about=about)]
    if kept.state is not TriggerState.ACTIVE:
        parts.append(kept.state.value)
    if kept.fires:
        parts.append(say("fired {fires}", fires=several(kept.fires, "time")))
    if kept.ends_at:
        parts.append(say("until {ends_at}", ends_at=moment(kept.ends_at)))
    if kept.owner:
        parts.append(say("for {name}", name=plain(kept.owner.name)))
    return f"{', '.join(parts)} (`{short_id(trigger.id)}`)"
