"""Runs at work, as the rooms of one account see them: typing, drafts, previews, and the end of all that.

Each answer ends what was shown of its run: nothing may come behind it, and it takes the place of the run's preview.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, Protocol

from runtime.contract import Address, Features, Progress, Resting, RunId
from runtime.delivery.rates import Rates
from runtime.delivery.retry_policy import RetryPolicy
from runtime.delivery.streaming import Previews, origin_of
from runtime.delivery.typing import Typing
from runtime.errors import Retryable
from runtime.store.protocol import Claim, NewDelivery, Outbox, Rendered


class Post(Protocol):
    """The account's courier, as far as it is needed here."""

    @property
    def may_send(self) -> bool: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None: ...

    async def prepare(self, new: NewDelivery) -> Rendered | None: ...

    def begin(self, new: NewDelivery, run_id: RunId) -> None: ...

    def let_go(self, address: Address) -> bool: ...


class LiveStatus:
    """Of one account. `posts`: an answer that grows is shown as a message, where a room has no drafts."""

    def __init__(
        self,
        *,
        post: Post,
        outbox: Outbox,
        previews: Previews,
        rates: Rates,
        pace: RetryPolicy,
        features: Features,
        posts: bool,
        heed: Callable[[Address, Retryable], Awaitable[None]],
    ) -> None:
        self._post = post
        self._outbox = outbox
        self._previews = previews
        self._rates = rates
        self._posts = posts
        self._liveness = Typing(
            features=features,
            rates=rates,
            pace=pace,
            may=lambda: post.may_send,
            spawn=post.spawn,
            heed=heed,
            say=self._say if posts else None,
        )

    def note(self, claim: Claim, event: Progress) -> None:
        """A run tells what it does."""
        if not self._liveness.offers:
            return
        if isinstance(event, Resting):
            self._liveness.hush(claim.run_id)
            self._previews.forget(claim.run_id)
        else:
            self._liveness.note(claim, event)

    def last_word(self, new: NewDelivery, claim: Claim) -> NewDelivery:
        """`new` is about to be committed and ends what the run shows of itself: it takes the place of its preview.

        Most runs have none, and the store is not asked for any: only this process made those of a run that began here.
        """
        if not self._liveness.offers:
            return new
        run = claim.run_id
        self._liveness.hush(run)
        if not self._posts or not (claim.resumed or self._previews.tried(run)):
            return new
        preview = self._previews.of(run)
        edits = preview.delivery.id if preview and preview.receipt else None
        return replace(new, replaces=origin_of(run), edits=edits)

    def stop(self) -> None:
        """Another process serves the account from here on."""
        self._liveness.stop()

    async def _say(self, claim: Claim, text: str) -> bool:
        """Have people see the answer grow, unless this is not the moment."""
        preview = self._previews.of(claim.run_id)
        if preview is None:
            return await self._begin(claim, text)
        if not (preview.changes and self._post.may_send and self._rates.spare(claim.address)):
            return False
        await self._previews.change(preview, text)
        return True

    async def _begin(self, claim: Claim, text: str) -> bool:
        """Post what is there of the answer, unless something else is being said in the room."""
        new = self._previews.new(claim, text)
        new = replace(new, rendered=await self._post.prepare(new))
        if new.rendered is None:
            return False
        self._previews.trying(claim.run_id)
        made = None
        try:
            made = await self._outbox.preview(claim.lane, claim.run_id, new)
        finally:
            if made:
                self._previews.keep(claim.run_id, new, made)
            if made and made.begun:
                self._post.begin(new, claim.run_id)
            else:
                self._post.let_go(new.address)
        return made is not None and made.begun
