"""Words of an agent inside a program: what its runs tell, and what they answer with."""

from __future__ import annotations

from bot.sdk.agent import Agent
from bot.sdk.events import Event, QuestionAsked, QuestionSettled, RunEnded, TextGrew, ToolEnded, ToolStarted
from bot.sdk.results import Answer, Artifact, Decided, Question
from bot.sdk.run import Run
from bot.sdk.session import Line, Session
from bot.sdk.workflow_run import StepResult, WorkflowResult, WorkflowRun
from runtime.domain.programs.followed import FollowState
from runtime.errors import AgentClosed, Declined, ProgramError, RunFailed

__all__ = [
    "Agent",
    "AgentClosed",
    "Answer",
    "Artifact",
    "Decided",
    "Declined",
    "Event",
    "FollowState",
    "Line",
    "ProgramError",
    "Question",
    "QuestionAsked",
    "QuestionSettled",
    "Run",
    "RunEnded",
    "RunFailed",
    "Session",
    "StepResult",
    "TextGrew",
    "ToolEnded",
    "ToolStarted",
    "WorkflowResult",
    "WorkflowRun",
]
