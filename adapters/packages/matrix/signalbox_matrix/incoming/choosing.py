"""Path of a choice: a reaction, words with a code, or an answer to a card or to a form; taken in, then answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

import structlog

from signalbox.channels import (
    FORM_CHOICES,
    TOO_LONG,
    ApprovalId,
    Choice,
    Clicked,
    Form,
    OpenForm,
    Sink,
    filled,
)
from signalbox_matrix.choices import IS_CHOICE, Offer, answered, bare, named, pressed, whole_id, written
from signalbox_matrix.errors import MatrixError
from signalbox_matrix.incoming import forms
from signalbox_matrix.incoming.known import FORM_KEY, Earlier, KnownEvents
from signalbox_matrix.outgoing.send import Sending
from signalbox_matrix.parse import Scene, click, identity

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

NOTICE_MAX_CHARS: Final = 300
CODE_LENGTH: Final = 4


class Choosing:
    """Takes choices in. What is said back is best effort: whoever sees nothing chooses again."""

    def __init__(self, *, known: KnownEvents, sending: Sending, open_form: OpenForm, account: str) -> None:
        self._known = known
        self._sending = sending
        self._open_form = open_form
        self._account = account

    async def reacted(self, event: Raw, scene: Scene, target: str, emoji: str, sink: Sink) -> bool:
        """Take a reaction in that is a choice; False for any other. Errors: StoreError, MatrixError."""
        if bare(emoji) not in IS_CHOICE:
            return False
        card = await self._known.of(scene.room.id, target)
        offer = pressed(card.offers, emoji) if card else None
        if card is None or offer is None:
            return False
        await self._chosen(event, _within(scene, card), target, offer, "", sink)
        return True

    async def said(self, event: Raw, scene: Scene, text: str, about: str, sink: Sink) -> bool:
        """Take words in that are a choice, `about` the message that they answer. Errors: StoreError, MatrixError."""
        card = await self._known.of(scene.room.id, about) if about else None
        if card and card.form:
            return await self._filled(event, _within(scene, card), about, card.form, text, sink)
        if card and card.offers:
            return await self._answered(event, _within(scene, card), about, card, text, sink)
        return await self._written(event, scene, text, sink)

    async def _answered(self, event: Raw, scene: Scene, about: str, card: Earlier, text: str, sink: Sink) -> bool:
        if found := answered(text, card.now) or answered(text, card.first):
            await self._chosen(event, scene, about, *found, sink)
            return True
        if (wish := written(text)) and (approval := whole_id(wish)):
            await self._take(event, scene, about, Clicked(ApprovalId(approval), Choice(wish.word), wish.rest), sink)
            return True
        words = next((offer for offer in card.now if offer.choice == Choice.TEXT), None)
        if words is None or text.startswith(("!", "/")):
            return False
        form = await self._open_form(words.approval, Choice.TEXT, identity(str(event["sender"])))
        if not isinstance(form, Form) or len(form.fields) != 1:
            return False
        pressed_ = filled(words.approval, Choice.TEXT, {form.fields[0].name: text})
        await self._take(event, scene, about, pressed_, sink)
        return True

    async def _written(self, event: Raw, scene: Scene, text: str, sink: Sink) -> bool:
        wish = written(text)
        if wish is None or len(wish.code) != CODE_LENGTH:
            return False
        found = await self._known.with_code(scene.room.id, wish.code.upper())
        offer = named(wish, found[1].offers) if found else None
        if found is None or offer is None:
            return False
        await self._chosen(event, _within(scene, found[1]), found[0], offer, wish.rest, sink)
        return True

    async def _filled(self, event: Raw, scene: Scene, about: str, form: Raw, text: str, sink: Sink) -> bool:
        try:
            sent = forms.answered(form, str(event["sender"]), text)
        except (LookupError, ValueError, TypeError):
            return False
        if sent is None:
            return False
        await self._take(event, scene, about, sent, sink)
        return True

    async def _chosen(self, event: Raw, scene: Scene, card: str, offer: Offer, reason: str, sink: Sink) -> None:
        choice = Choice(offer.choice)
        if choice in FORM_CHOICES:
            await self._ask(event, scene, card, offer.approval, choice)
        else:
            await self._take(event, scene, card, Clicked(offer.approval, choice, reason), sink)

    async def _take(self, event: Raw, scene: Scene, card: str, chosen: Clicked, sink: Sink) -> None:
        verdict = await sink(click(event, scene, chosen))
        if not verdict.notice:
            return
        if verdict.form_stays:
            await self._ask(event, scene, card, chosen.approval_id, chosen.choice, verdict.notice)
        else:
            await self._tell(event, scene, card, verdict.notice[:NOTICE_MAX_CHARS])

    async def _ask(
        self, event: Raw, scene: Scene, card: str, approval: ApprovalId, choice: Choice, notice: str = ""
    ) -> None:
        """Ask for the words of a form, or say why there is none."""
        user = str(event["sender"])
        form = await self._open_form(approval, choice, identity(user))
        if isinstance(form, Form) and sum(len(field.text) for field in form.fields) > forms.FIELDS_MAX_CHARS:
            form = TOO_LONG
        if isinstance(form, str):
            await self._tell(event, scene, card, form)
            return
        text, html, held = forms.asking(form, user, scene.room.called(user), notice)
        more = {FORM_KEY: held, "m.mentions": {"user_ids": [user]}}
        await self._tell(event, scene, card, text, html=html, more=more)

    async def _tell(self, event: Raw, scene: Scene, card: str, text: str, **more: Any) -> None:
        """Under the card. The same event told twice is answered once; in a room that is encrypted by now nothing is said."""
        if scene.room.encrypted_by:
            return
        key = f"t.{sha256(str(event['event_id']).encode()).hexdigest()[:16]}"
        try:
            await self._sending.tell(scene.room.id, text, key, under=card, thread=scene.thread, **more)
        except MatrixError as error:
            log.info("a choice was not answered", account=self._account, reason=str(error))


def _within(scene: Scene, card: Earlier) -> Scene:
    """A choice belongs where its card stands."""
    return replace(scene, thread=card.thread)
