"""The way out: what is shown, and what is known about it. Approvals are asked here too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from pathlib import Path
from typing import Final, Protocol

from runtime.contract.calls import Mention, Whole
from runtime.contract.people import Address, ApprovalId, DeliveryId, Identity, RunId, SessionKey
from runtime.contract.signals import Choice, FileRef, files_json


class ApprovalKind(StrEnum):
    CALL = "call"  # may this call run?
    OUTCOME = "outcome"  # this call was cut: did it happen?
    PERSON = "person"  # may this stranger come in?
    ANSWER = "answer"  # what does a person say?


CHOICES: Final[Mapping[ApprovalKind, tuple[Choice, ...]]] = {
    ApprovalKind.CALL: (Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.WHY),
    ApprovalKind.OUTCOME: (Choice.DONE, Choice.AGAIN, Choice.SKIP),
    ApprovalKind.PERSON: (Choice.USER, Choice.NO, Choice.OTHER, Choice.VIEWER, Choice.OPERATOR),
    ApprovalKind.ANSWER: (Choice.FIRST, Choice.SECOND, Choice.THIRD, Choice.FOURTH, Choice.TEXT),
}


class Kind(StrEnum):
    """Kind of a delivery; also its rank in a room, most urgent first."""

    APPROVAL = "approval"
    FINAL = "final"
    REPORT = "report"
    PROGRESS = "progress"

    @property
    def rank(self) -> int:
        return list(Kind).index(self) + 1


class Mark(StrEnum):
    """End of a question at a glance; the first character of a settled card's text."""

    YES = "✅"
    NO = "❌"
    NOBODY = "⌛"  # in time
    WITHDRAWN = "⚪"
    UNDONE = "↩"


@dataclass(frozen=True, slots=True)
class Button:
    """A choice on a card. The wire carries `approval_id` and `choice` only; `label` is what people read."""

    approval_id: ApprovalId
    choice: Choice
    label: str


class CardState(StrEnum):
    """Stages of a piece of work, as cards of platforms tell them."""

    WAITING = "waiting"  # for a person
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"  # also what was stopped


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A piece of work: `title` in a line, and `note` with what else there is to say of it. Both are plain text."""

    id: str
    title: str
    state: CardState
    note: str = ""


@dataclass(frozen=True, slots=True)
class TaskCards:
    """Pieces of work under one title."""

    title: str
    cards: tuple[TaskCard, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a delivery: Markdown text (CommonMark with tables and strike-through), and buttons under it.

    `text_file` holds all of `text` where that is too long to be read in a chat: a channel that carries files shows how
    it begins and this file, and the text in parts only where the file is refused. Others show `text`.

    `threaded`: its first line is a message of the room, and the rest stands under it. `under` is the wire's id of an
    earlier message that all of it stands under. Channels without threads show it as any other.

    `whole`: `text` has a call in it and is to be one message. A channel whose message cannot hold it shows the begin and the
    end of its longest blocks, and all of it as a file or folded beside. `folded` is Markdown that comes last, folded where
    the channel can. `mark` begins `text`. `mentions` are called once, by a channel that notifies those it names.
    `tasks` say the same as `text`, for a channel that has cards for pieces of work. `speaker` is the agent whose words these are, where
    that isn't the usual one: `text` of an answer is led by its name, which a channel leaves out that shows it as the author.

    With `reaction` it is no message: that emoji is put onto the message that it `edits`. `rewritten`: the agent changed words
    of its own that stood there. `schedule` is the name of the one that made this report, for a channel that tells it beside a message.
    `failed`: last words of a run that came to nothing. `elsewhere`: a question that is open, and answered in another place.
    """

    text: str
    buttons: tuple[Button, ...] = ()
    files: tuple[FileRef, ...] = ()
    text_file: FileRef | None = None
    threaded: bool = False
    under: str = ""
    whole: Whole | None = None
    folded: str = ""
    mark: Mark | None = None
    mentions: tuple[Mention, ...] = ()
    tasks: TaskCards | None = None
    speaker: str = ""
    reaction: str = ""
    rewritten: bool = False
    schedule: str = ""
    failed: bool = False
    elsewhere: bool = False

    @property
    def asks(self) -> bool:
        """True for a card that somebody is to decide by; a settled one may have buttons too."""
        return bool(self.buttons) and self.mark is None

    @property
    def all_text(self) -> str:
        """The text, and what is folded under it."""
        return f"{self.text}\n\n{self.folded}" if self.folded else self.text

    def to_json(self) -> str:
        made = {
            "text": self.text,
            "buttons": [[b.approval_id, b.choice, b.label] for b in self.buttons],
            "files": json.loads(files_json(self.files)) if self.files else [],
        }
        if self.text_file is not None:
            made["text_file"] = json.loads(files_json([self.text_file]))[0]
        if self.whole is not None:
            made["whole"] = [self.whole.sha256, self.whole.text]
        undone = (
            self.mark is Mark.UNDONE
        )  # a program from before that mark, beside ours while nodes are upgraded, knows the other
        mark = Mark.WITHDRAWN if undone else self.mark
        more = {"threaded": self.threaded, "under": self.under, "folded": self.folded, "mark": mark, "undone": undone}
        more |= {"speaker": self.speaker, "reaction": self.reaction, "rewritten": self.rewritten}
        more |= {"schedule": self.schedule, "failed": self.failed, "elsewhere": self.elsewhere}
        made |= {name: value for name, value in more.items() if value}
        if self.mentions:
            made["mentions"] = [[one.identity, one.name] for one in self.mentions]
        if self.tasks is not None:
            cards = [[one.id, one.title, one.state, one.note] for one in self.tasks.cards]
            made["tasks"] = [self.tasks.title, cards]
        return json.dumps(made, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Content:
        raw = json.loads(text)
        return cls(
            raw["text"],
            tuple(Button(ApprovalId(a), Choice(c), label) for a, c, label in raw["buttons"]),
            tuple(FileRef(*f) for f in raw["files"]),
            FileRef(*raw["text_file"]) if "text_file" in raw else None,
            raw.get("threaded", False),
            raw.get("under", ""),
            Whole(*raw["whole"]) if "whole" in raw else None,
            raw.get("folded", ""),
            Mark.UNDONE if "undone" in raw else Mark(raw["mark"]) if "mark" in raw else None,
            tuple(Mention(Identity(who), name) for who, name in raw.get("mentions", ())),
            _task_cards(*raw["tasks"]) if "tasks" in raw else None,
            raw.get("speaker", ""),
            raw.get("reaction", ""),
            raw.get("rewritten", False),
            raw.get("schedule", ""),
            raw.get("failed", False),
            raw.get("elsewhere", False),
        )


def _task_cards(title: str, cards: Sequence[Sequence[str]]) -> TaskCards:
    return TaskCards(title, tuple(TaskCard(id, name, CardState(state), note) for id, name, state, note in cards))


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing to show at one address.

    `edits` names an earlier delivery whose message this one replaces: its last one, which carries the buttons. A reaction
    names there what it is put onto, which may be a signal.
    `reply_to` is the wire's id of the message it answers, empty where it answers none: channels that can, say so.
    """

    id: DeliveryId
    origin: str
    ordinal: int
    kind: Kind
    address: Address
    content: Content
    edits: DeliveryId | None = None
    reply_to: str = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """One rendered wire message: `body` and its plain twin `fallback`, both text in a form the adapter chose.

    `more` follows the fall-back as further messages, where what one message held (a file) takes several without it. Only
    the last wire of a delivery may have `more`.
    """

    body: str
    fallback: str | None = None
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One wire message of a delivery. `id` (at most 25 characters) is stable over attempts: the idempotency key.

    `under` is the wire's id of the message of this room that it stands under; if that is gone, it stands in the room.
    """

    delivery_id: DeliveryId
    ordinal: int
    address: Address
    body: str
    marked_as_repeat: bool = False
    under: str = ""

    @property
    def id(self) -> str:
        return f"{self.delivery_id}.{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at showing a part: its number from 1, when its marker was committed, and the floor stored with it.

    `first_at` is when the part was marked for the first time: a platform may know a repeat by its key for a while.
    `looks` counts the looks before this one that found nothing: the first may be brief, the second must be whole.
    """

    number: int
    marked_at: datetime
    floor: str = ""
    first_at: datetime | None = None
    looks: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """The channel's own id of what it shows."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Shown:
    """It is on screen; this is its receipt."""

    receipt: Receipt


class SettleResult(Enum):
    ABSENT = "absent"  # looked, and it is not there
    UNKNOWN = "unknown"  # this channel cannot tell


Settled = Shown | SettleResult


@dataclass(frozen=True, slots=True)
class PostWish:
    """A message that a run wants posted beside its answer. `key` makes a repeat of the same call the same message.

    `files` are paths in the workspace at `folder`.
    """

    key: str
    to: Address
    text: str
    files: tuple[str, ...] = ()
    folder: Path = Path()


@dataclass(frozen=True, slots=True)
class PostStanding:
    """A posted message as it stands: a word of `states.md`, and why it is not shown where it is held or dead."""

    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangeWish:
    """A run's wish about a message that is shown in its room. `call` makes a repeat of the same call the same change.

    `message` names it: a name that the conversation knows, `last` for its last answer, or empty for the message that is answered.
    """

    run: RunId
    session: SessionKey
    call: str
    room: Address
    message: str = ""


class Changing(Protocol):
    """Changes what a room shows, through the outbox: each change is made once, whatever is killed or repeated."""

    async def react(self, wish: ChangeWish, emoji: str) -> None:
        """Put an emoji onto a message. Errors: ToolRetry in words for the model."""

    async def rewrite(self, wish: ChangeWish, text: str) -> None:
        """Put `text` in place of a message of the agent's own. Errors: ToolRetry in words for the model."""


class Posting(Protocol):
    """Posts messages of tools through the outbox: each is shown once, whatever is killed or repeated."""

    async def post(self, wish: PostWish) -> DeliveryId:
        """Post it; the same key again posts nothing more. Errors: ToolRetry in words for the model."""

    async def standing(self, delivery: str, key: str) -> PostStanding | None:
        """None where no such message was posted under a key that begins so."""
