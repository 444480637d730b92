"""A peer on the wire: its card, and requests of JSON-RPC, through the guarded way out alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from runtime.egress import Egress, NoAnswer, Response
from runtime.errors import ToolFailed
from tools.peers.answers import GONE_CODES, STRANGE, PeerAnswer, PeerRefused, answer_of, result_in
from tools.peers.cards import NO_CARD, NotThatPeer, PeerCard, PeerTerms, card_of

A2A_ASK: Final = "a2a_ask"
PEER_TIMEOUT: Final = timedelta(seconds=30)
PEER_ANSWER_MAX_BYTES: Final = 1_000_000
UNANSWERED: Final = "The peer {name} gave no answer: {why} Asking again with the same words is safe."


class PeerClient:
    """One peer. Its card is read with the first use, and kept until an answer is none: the peer may have moved on."""

    def __init__(self, terms: PeerTerms, egress: Egress) -> None:
        self.terms = terms
        self._egress = egress
        self._card: PeerCard | None = None

    async def card(self) -> PeerCard:
        """Errors: NotThatPeer, ToolFailed."""
        if self._card is None:
            answer = await self._request("GET", self.terms.card_url)
            if answer.status != 200:
                raise NotThatPeer(NO_CARD.format(name=self.terms.name, why=f"it answered {answer.status}."))
            self._card = card_of(self.terms, read_json(self.terms.name, answer))
        return self._card

    async def send(self, text: str, message: str, *, task: str = "", context: str = "") -> PeerAnswer:
        """Say `text`, under an id by which the peer knows a repeat. It answers at once. Errors: ToolFailed."""
        is_old = (await self.card()).version == "0.3"
        part = {"kind": "text", "text": text} if is_old else {"text": text}
        said: dict[str, Any] = {"messageId": message, "role": "user" if is_old else "ROLE_USER", "parts": [part]}
        if task:
            said["taskId"] = task
        if context:
            said["contextId"] = context
        if is_old:
            said["kind"] = "message"
        terms = {"blocking": False} if is_old else {"returnImmediately": True}
        return await self._call("message/send" if is_old else "SendMessage", {"message": said, "configuration": terms})

    async def task(self, name: str) -> PeerAnswer:
        """A task as it stands. Errors: ToolFailed."""
        is_old = (await self.card()).version == "0.3"
        return await self._call("tasks/get" if is_old else "GetTask", {"id": name})

    async def cancel(self, name: str) -> None:
        """End a task; one that is over or unknown there is as good as ended. Errors: ToolFailed for no answer, or another one."""
        is_old = (await self.card()).version == "0.3"
        try:
            await self._call("tasks/cancel" if is_old else "CancelTask", {"id": name})
        except PeerRefused as refused:
            if refused.code not in GONE_CODES:
                raise

    async def _call(self, method: str, params: Mapping[str, Any]) -> PeerAnswer:
        card, name = await self.card(), self.terms.name
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        answer = await self._request("POST", card.url, body, {"A2A-Version": card.version, **self._proof()})
        try:
            return answer_of(name, result_in(name, read_json(name, answer)))
        except ToolFailed:
            self._card = None
            raise

    def _proof(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.terms.token}"} if self.terms.token else {}

    async def _request(
        self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        typed = {"Content-Type": "application/json"} if body else {}
        try:
            return await self._egress.request(
                method,
                url,
                tool=A2A_ASK,
                headers={"Accept": "application/json", **typed, **(headers or {})},
                body=body,
                most=PEER_ANSWER_MAX_BYTES,
                timeout=PEER_TIMEOUT,
            )
        except NoAnswer as error:
            raise ToolFailed(UNANSWERED.format(name=self.terms.name, why=error)) from error


def read_json(name: str, answer: Response) -> object:
    """Errors: ToolFailed."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):  # the latter for thousands of open brackets
        raise ToolFailed(f"{STRANGE.format(name=name)} (status {answer.status})") from None
