"""Answers read as clients wished for them: calls of their tools, a form, and one try more where the form isn't right."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing, Wanted
from bot.doors.live.growing import Growing, GrowingAnswers
from bot.doors.openai.told import Told, told_of
from bot.doors.openai.wishes import AGAIN, Reading, Wishes, read, wishes_in, without_calls
from runtime.contract import Address
from runtime.domain.programs.followed import Followed, FollowState

REPAIR_KEY: Final = "repair {id}"
"""No client's key holds a blank."""
WRONG_FORM: Final = "The agent's answer isn't as this request asked for it, also at a second try. {fault}"


def told_as_wished(growing: Growing) -> tuple[Told, str]:
    """The answer as its client wished for it, and the fault of one that isn't so. Pure."""
    told, wishes = told_of(growing), wishes_in(growing.found.own)
    if not wishes:
        return told, ""
    if growing.found.state is not FollowState.DONE:
        return _so_far(told, wishes), ""
    found = read(growing.found.text, wishes, growing.found.id)
    return _whole(told, found, wishes), found.fault


def _so_far(told: Told, wishes: Wishes) -> Told:
    if wishes.form is not None and not told.found.state.is_over:
        return replace(told, texts=(), live="")
    return replace(told, texts=tuple(filter(None, map(without_calls, told.texts))), live=without_calls(told.live))


def _whole(told: Told, found: Reading, wishes: Wishes) -> Told:
    before = () if wishes.form is not None else tuple(map(without_calls, told.texts[:-1]))
    return replace(told, texts=tuple(filter(None, (*before, found.text))), calls=found.calls)


class WishedAnswers:
    """Waits for answers, and asks once more for one that can't be used."""

    def __init__(self, conversing: Conversing, growing: GrowingAnswers) -> None:
        self._conversing = conversing
        self._growing = growing

    async def told(self, caller: Caller, signal_id: str, within: timedelta = timedelta()) -> Told:
        """The answer once it is over or asks people, or as it is after `within`."""
        first = await self._look(caller, signal_id, within)
        told, fault = told_as_wished(first)
        if not fault:
            return told
        again = await self._look(caller, await self._asked_again(caller, first.found, fault), within)
        told, fault = told_as_wished(again)
        return _as_of(first.found, told, fault)

    async def _look(self, caller: Caller, signal_id: str, within: timedelta) -> Growing:
        if within:
            await self._conversing.answered(caller, signal_id, within)
        return await self._growing.look(caller, signal_id)

    async def _asked_again(self, caller: Caller, found: Followed, fault: str) -> str:
        """The message that asks once more: the same one, whoever asks for it and how often."""
        words = f"{AGAIN.format(fault=fault)}\n\n{wishes_in(found.own).words}"
        room: Address = found.address
        key = REPAIR_KEY.format(id=found.id)
        return (await self._conversing.say(caller, Wanted(room=room, text=words, key=key, agent=found.agent))).id


def _as_of(first: Followed, told: Told, fault: str) -> Told:
    """The second answer in the place of the first."""
    found = replace(
        told.found,
        id=first.id,
        at=first.at,
        own=first.own,
        input_tokens=first.input_tokens + told.found.input_tokens,
        output_tokens=first.output_tokens + told.found.output_tokens,
    )
    if not fault:
        return replace(told, found=found)
    error = WRONG_FORM.format(fault=fault)
    return Told(replace(found, state=FollowState.FAILED, text=error, error=error), (), wrong=error)
