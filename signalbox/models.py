"""The words of a model."""

from __future__ import annotations

from runtime.contract import (
    AssistantTurn,
    Call,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    ToolSpec,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.errors import ModelFailed
from runtime.models.settings import ModelSettings

__all__ = [
    "AssistantTurn",
    "Call",
    "Model",
    "ModelFailed",
    "ModelReply",
    "ModelRequest",
    "ModelSettings",
    "OnText",
    "ToolSpec",
    "ToolTurn",
    "Turn",
    "Usage",
    "UserTurn",
]
