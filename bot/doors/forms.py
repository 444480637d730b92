"""Forms of the REST API: what programs send and are answered. The OpenAPI document is made of these."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from runtime.contract import Urgency
from runtime.domain.programs.followed import FollowState
from runtime.http.bodies import TEXT_LIMIT

WAIT_SECONDS_MAX: Final = 55
"""Below the idle limit of common proxies."""
PAYLOAD_BYTES_MAX: Final = 64 * 1024
KEY_MAX_CHARS: Final = 128


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewMessage(Strict):
    """Words for an agent, as a person would write them."""

    text: Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
    agent: Annotated[str, Field(description="Empty: the token's first agent, or the main one.", max_length=64)] = ""
    files: Annotated[list[str], Field(description="Paths of uploaded files.", max_length=20)] = []


class NewSignal(Strict):
    """Something that happened elsewhere, for an agent to look at."""

    source: Annotated[str, Field(description="Who tells it, such as `ci`.", min_length=1, max_length=100)]
    type: Annotated[str, Field(description="Its kind, such as `build.failed`.", min_length=1, max_length=100)]
    summary: Annotated[str, Field(min_length=1, max_length=2_000)]
    urgency: Urgency = Urgency.NORMAL
    payload: Annotated[Any, Field(description="JSON of at most 64 KiB, shown to the agent as material.")] = None
    dedupe_key: Annotated[str, Field(description="Equal keys are the same event.", max_length=KEY_MAX_CHARS)] = ""
    room: Annotated[str, Field(description="A room of yours, or an address.", max_length=300)] = ""
    session: Annotated[str, Field(description="In place of `room`: `agent|address`.", max_length=400)] = ""
    agent: Annotated[str, Field(max_length=64)] = ""
    task: Annotated[str, Field(description="What the agent should do about it.", max_length=10_000)] = ""
    context: Annotated[dict[str, str], Field(description="Further facts, by name.", max_length=50)] = {}


class Attended(BaseModel):
    """Decision of attention about a signal."""

    id: str
    outcome: Literal["accepted", "merged", "duplicate", "observed", "decided", "unchanged"]
    attention: Literal["runs", "interrupts", "kept as context", "same as before"]
    notice: str = ""


class Accepted(BaseModel):
    """A message that is stored and will be answered."""

    id: str
    outcome: str
    repeated: Annotated[bool, Field(description="True for a key that was used before: nothing happened twice.")]
    notice: str = ""


class Question(BaseModel):
    """A question to people that the answer waits for."""

    id: str
    kind: str
    tool: str
    expires_at: str
    text: Annotated[str, Field(description="What the agent asks; empty where people are asked about a call.")] = ""


class FileView(BaseModel):
    name: str
    path: str
    size: int


class RoomView(BaseModel):
    """A room in which the caller spoke, as they keep it in the list of the page."""

    room: str
    title: str
    last_at: str
    questions: Annotated[int, Field(description="Questions to people that are open there.")]
    pinned: bool = False
    archived: bool = False
    unread: bool = False


class EntryView(BaseModel):
    """Something that was said or shown in a room."""

    id: str
    author: str
    name: str
    at: str
    text: str
    answered: bool
    files: list[FileView]


class Spent(BaseModel):
    input_tokens: int
    output_tokens: int
    cost_micros: Annotated[int, Field(description="Millionths of a US dollar.")]


class Message(BaseModel):
    """A message and its answer, as they stand now."""

    id: str
    state: FollowState
    over: bool
    room: Annotated[str, Field(description="Its address, as the settings write it.")]
    agent: str
    run: str | None
    text: Annotated[str, Field(description="The answer, in Markdown, once it is over.")]
    error: str
    files: list[FileView]
    questions: list[Question]
    usage: Spent
    at: str
    ended_at: str | None


class Me(BaseModel):
    """The token that asks."""

    name: str
    identity: str
    role: str
    agents: list[str]
    rooms: list[str]
    per_minute: int
    until: str | None


class AgentView(BaseModel):
    """An agent that this token may ask."""

    name: str
    state: str = ""


class Problem(BaseModel):
    """An error, as RFC 9457 says it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str = ""
