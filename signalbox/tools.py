"""The words of a tool."""

from __future__ import annotations

from runtime.contract import (
    Address,
    CardChange,
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Person,
    Reads,
    RunId,
    SessionKey,
    Tool,
    ToolContext,
    ToolSpec,
    Undo,
)
from runtime.errors import ToolError, ToolFailed, ToolRetry
from tools.kit.declare import tool

__all__ = [
    "Address",
    "CardChange",
    "CardContext",
    "CardNote",
    "CardPart",
    "CardText",
    "CardValue",
    "Carries",
    "Effect",
    "Flow",
    "Json",
    "Person",
    "Reads",
    "RunId",
    "SessionKey",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFailed",
    "ToolRetry",
    "ToolSpec",
    "Undo",
    "tool",
]
