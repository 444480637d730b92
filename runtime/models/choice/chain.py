"""Several models as one: the one a request is for answers it, else the next that is well."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.contract import ChosenModel, Model, ModelReply, ModelRequest, Now, OnText, Probe, no_probe
from runtime.errors import Cause, ModelFailed
from runtime.models.choice.cooling import BENCHED, Cooldowns, Failed, Standing, ended_by_an_answer, standing
from runtime.models.choice.routing import Route, chosen
from runtime.models.choice.watch import UNWATCHED, ChainWatch

log = structlog.get_logger("models")

LONGEST_REST: Final = timedelta(seconds=30)
"""Where all models rest, one that is well so soon is waited for."""

PROBED: Final = 0.5
"""Seconds between looks at what came of another's call to a model whose rest has ended."""

THE_REQUEST_ITSELF: Final = frozenset({Cause.REQUEST, Cause.OVERFLOW})
"""Failures that another model would have as well, or that the conversation answers by a smaller request."""

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Member:
    """A model of a chain. `mark` is of its settings and keys: with others, what was refused is tried again."""

    route: Route
    model: Model
    mark: str

    @property
    def name(self) -> str:
        return self.route.name


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason for which a model gave no answer. `at_rest`: it was not even asked."""

    member: Member
    reason: str
    at_rest: bool = False


class ModelChain:
    """Implements `contract.Model`. `fallbacks` are names, in the order in which they take another's place."""

    def __init__(
        self,
        members: Sequence[Member],
        fallbacks: Sequence[str],
        *,
        cooldowns: Cooldowns,
        now: Now,
        sleep: Sleep = asyncio.sleep,
        probe: Probe = no_probe,
    ) -> None:
        self.name = members[0].model.name
        self.members = {member.name: member for member in members}
        self._routes = [member.route for member in members]
        self._fallbacks = fallbacks
        self._cooldowns = cooldowns
        self._now = now
        self._sleep = sleep
        self._probe = probe
        self._watch = UNWATCHED

    def watch(self, wrap: Callable[[str, Model], Model], watch: ChainWatch) -> None:
        """Have each model asked through what `wrap` makes of it and its name, and `watch` told of all together."""
        self.members = {name: replace(one, model=wrap(name, one.model)) for name, one in self.members.items()}
        self._watch = watch

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        choice, refusals = chosen(self._routes, request), list[Refusal]()
        order = [self.members[choice.model]] if request.cheapest else list(self._order(choice))
        for member in order:
            if await self._may_ask(member, refusals) and (
                reply := await self._asked(member, request, on_text, refusals)
            ):
                return self._told(reply, member, choice, refusals)
        again = await self._well_again(order)
        if again and (reply := await self._asked(again, request, on_text, refusals)):
            return self._told(reply, again, choice, refusals)
        raise ModelFailed(all_failed(refusals), detail="; ".join(refusal.reason for refusal in refusals))

    def _order(self, choice: ChosenModel) -> Iterator[Member]:
        """The model that the request is for, the usual one, and those that stand in for them."""
        names = dict.fromkeys([choice.model, self._routes[0].name, *self._fallbacks])
        return (self.members[name] for name in names)

    async def _may_ask(self, member: Member, refusals: list[Refusal]) -> bool:
        rest = self._cooldowns.of(member.name)
        stands = standing(rest, member.mark, self._now())
        if stands is Standing.WELL or (stands is Standing.DUE and await self._cooldowns.may_probe(member.name)):
            return True
        refusals.append(Refusal(member, rest.reason if rest else "It is resting.", at_rest=True))
        return False

    async def _asked(
        self, member: Member, request: ModelRequest, on_text: OnText, refusals: list[Refusal]
    ) -> ModelReply | None:
        """The answer of one model; None where it failed in a way that another one may not."""
        began = self._now()
        try:
            reply = await member.model.reply(request, on_text)
        except ModelFailed as error:
            if error.cause in THE_REQUEST_ITSELF:
                raise
            log.warning(
                "model failed, the next one is asked", model=member.name, reason=str(error), detail=error.detail
            )
            refusals.append(Refusal(member, str(error)))
            if error.cause in BENCHED:
                failed = Failed(member.name, member.mark, error.cause, began, str(error), error.wait)
                await self._cooldowns.failed(failed)
                self._watch.rested(member.name, error.cause)
            self._probe("model-benched")
            return None
        if ended_by_an_answer(self._cooldowns.of(member.name), began):
            await self._cooldowns.well(member.name)
        return reply

    async def _well_again(self, order: Sequence[Member]) -> Member | None:
        """The model whose rest ends first, once it has ended; None where that is too long to wait for.

        Of all that wait for one model a single one asks it first, and the others wait for what comes of that.
        """
        resting, latest = [one for one in order if self._cooldowns.of(one.name)], self._now() + LONGEST_REST
        while (now := self._now()) <= latest:
            for member in resting:
                stands = standing(self._cooldowns.of(member.name), member.mark, now)
                if stands is Standing.WELL or (stands is Standing.DUE and await self._cooldowns.may_probe(member.name)):
                    return member
            rests = [rest.until for one in resting if (rest := self._cooldowns.of(one.name)) and rest.until]
            soonest = min(rests, default=None)
            if soonest is None or soonest > latest:
                return None
            await self._sleep(max((soonest - now).total_seconds(), PROBED))
        return None

    def _told(self, reply: ModelReply, member: Member, choice: ChosenModel, refusals: Sequence[Refusal]) -> ModelReply:
        """The reply, with the reason why this model answered."""
        if member.name != choice.model:
            failures = "; ".join(f"{refusal.member.name}: {refusal.reason}" for refusal in refusals)
            why = " · ".join(filter(None, [choice.why, f"{member.name} instead of {choice.model} ({failures})"]))
            self._watch.stood_in(member.name, choice.model)
            choice = replace(choice, why=why, instead_of=choice.model)
            self._probe("fallback-chosen")
        return replace(reply, choice=choice)


def all_failed(refusals: Sequence[Refusal]) -> str:
    """One readable error for the person who waits, with each model and its reason."""
    last = {refusal.member.name: refusal.reason for refusal in refusals}
    if len(last) == 1:
        return next(iter(last.values()))
    lines = "\n".join(f"- {name}: {reason}" for name, reason in last.items())
    return f"None of the models can answer right now:\n{lines}"
