"""Agent cards: the open one tells nothing of this installation, the extended one names the agents of a token. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.doors.a2a.wire import Dialect

CARD_NAME: Final = "Signalbox"
CARD_WORDS: Final = (
    "Agents that work for a team in its chat rooms. Which ones there are is told to those who have a token."
)
OLD_CARD_VERSION: Final = "0.3.0"
TEXT_MODES: Final = ("text/plain", "text/markdown")
BEARER_WORDS: Final = "A token of this Signalbox: an owner makes it with `signalbox tokens make NAME`."
Card = dict[str, Any]


def card(url: str, version: str, agents: Sequence[str] = ()) -> Card:
    """A card that clients of both versions read; `url` is where requests go."""
    skills = [skill(name) for name in agents] or [
        {"id": "ask", "name": "Ask", "description": "Ask an agent.", "tags": ["chat"]}
    ]
    interfaces = [
        {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": one.value} for one in (Dialect.ONE, Dialect.OLD)
    ]
    return {
        "name": CARD_NAME,
        "description": CARD_WORDS,
        "version": version or "0",
        "supportedInterfaces": interfaces,
        "capabilities": {"streaming": True, "pushNotifications": True, "extendedAgentCard": True},
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": BEARER_WORDS}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "defaultInputModes": list(TEXT_MODES),
        "defaultOutputModes": list(TEXT_MODES),
        "skills": skills,
        **place_of_old(url),
    }


def place_of_old(url: str) -> Card:
    """Fields by which version 0.3 finds the place; others don't look at them."""
    return {"protocolVersion": OLD_CARD_VERSION, "url": url, "preferredTransport": "JSONRPC"}


def old_card(url: str, version: str, agents: Sequence[str] = ()) -> Card:
    """As version 0.3 wants it."""
    made = card(url, version, agents)
    for name in ("supportedInterfaces", "securityRequirements"):
        del made[name]
    return {
        **made,
        "capabilities": {"streaming": True, "pushNotifications": True},
        "supportsAuthenticatedExtendedCard": True,
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": BEARER_WORDS}},
        "security": [{"bearer": []}],
    }


def skill(agent: str) -> Card:
    return {"id": agent, "name": agent, "description": f"Ask the agent {agent}.", "tags": ["chat", "agent"]}
