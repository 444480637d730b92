"""Agents of other systems: the card of each is read once, and its name checked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bot.doctor.subject import Subject, fine, warning
from runtime.contract import Finding
from runtime.errors import ToolFailed

if TYPE_CHECKING:
    from tools.peers.client import PeerClient

SKILLS_NAMED: Final = 5


async def check_peers(subject: Subject) -> Sequence[Finding]:
    """All side by side: one that hangs must not make the others wait."""
    if not subject.settings.a2a:
        return []
    from bot.wiring.tools.peers import clients_of

    clients = clients_of(subject.settings)
    return await asyncio.gather(*(_card_of_peer(name, client) for name, client in clients.items()))


async def _card_of_peer(name: str, client: PeerClient) -> Finding:
    ident = f"a2a.{name}"
    try:
        card = await client.card()
    except ToolFailed as error:
        why = "Agents can't ask it; everything else works."
        return warning(ident, str(error), why, f'check [[a2a]] name = "{name}", or the peer')
    skills = [one.partition(":")[0] for one in card.skills[:SKILLS_NAMED]]
    more = ", …" if len(card.skills) > SKILLS_NAMED else ""
    return fine(ident, f"{client.terms.url}, A2A {card.version}: {', '.join(skills) or 'no skill'}{more}")
