"""Tables of the page, of people's access, of rooms, and of conversations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from bot.settings.sections.prompts import PromptFile, PromptText
from runtime.contract import Busy
from runtime.domain.routing import Attention
from runtime.guard.findings import Detector, Strictness
from runtime.settings.types import IdentityName, Number, Proof, PublicUrl, Section, Switch, Text, Whole

Language = Literal["en", "de"]
"""Languages of what people read: those of the catalogues."""


class Web(Section):
    """The web page, console, API and health checks."""

    host: Text = Field(
        default="127.0.0.1", description="Address to listen on. By default only this machine can connect."
    )
    port: Whole = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 picks a free one and prints it."
    )
    token: Proof = Field(
        default=None,
        description="The token in the owner's link: at least 16 characters. Without one, Signalbox makes one and prints the link once.",
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    hosts: tuple[Text, ...] = Field(
        default=(), description='More host names under which browsers reach the page, such as "bot.example.org".'
    )
    public_url: PublicUrl = Field(
        default="",
        description='Public address of the page, such as "https://bot.example.org". Links begin with it, and its '
        "name counts as one of `hosts`. Empty: the address it listens on.",
    )
    upload_mib: Number = Field(default=20, gt=0, le=2048, description="Largest file a person may upload, in MiB.")

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which browsers reach the page, beside those of this machine."""
        return (*self.hosts, urlsplit(self.public_url).netloc) if self.public_url else self.hosts


class Access(Section):
    """People who may talk to the agent, and people who may approve."""

    default: Literal["pair", "deny", "allow"] = Field(
        default="pair",
        description='What happens to strangers: "deny", "allow" (they become users), or "pair" (when they write '
        "to the agent in private, they get a code with which an owner lets them in).",
    )
    owners: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of owners, such as "telegram:1001" or "slack:T1/U1"; the name of an account can '
        'stand for its workspace: "slack:work/U1".',
    )
    approvers: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of the approvers, such as "slack:work/U1". Empty: operators and owners.',
    )
    self_approval: Switch = Field(default=True, description="Operators and owners may approve their own requests.")
    rooms: Attention = Field(
        default=Attention.MENTION,
        description='What reaches the agent in a room with several people. "mention": messages that mention it, '
        'and what follows in a thread it joined that way; "thread": the same, also in lasting '
        'threads such as forum topics; "strict": only messages that mention it; "open": everything; '
        '"observe": messages that mention it, with the rest as context for later; "off": nothing.',
    )
    blocked: tuple[Text, ...] = Field(default=(), description="Identities or names of people who are never answered.")
    bots: tuple[IdentityName, ...] = Field(
        default=(), description="Identities of other programs that may talk to the agent as users."
    )
    bots_in_a_row: Whole = Field(
        default=5,
        ge=1,
        le=1000,
        description="How many messages from such programs are answered in one conversation before a person has to write.",
    )


class RoomTable(Section):
    """Rules for particular rooms; the first table that matches decides. Settings left out are as everywhere else."""

    address: Text = Field(
        description='Address of the room, or a glob such as "slack:work/*". It covers threads of the room too.'
    )
    attention: Attention | None = Field(default=None, description="Instead of `access.rooms`.")
    people: tuple[Text, ...] = Field(
        default=(), description="Identities or names of the only people answered there. Empty: everybody known."
    )
    blocked: tuple[Text, ...] = Field(default=(), description="Identities or names of people not answered there.")
    busy: Busy | None = Field(default=None, description="Instead of `sessions.busy`.")
    language: Language | None = Field(default=None, description="Instead of `language`.")
    prompt: PromptText = Field(
        default="", description="What the agent is told there beside its own prompt; it may name the same values."
    )
    prompt_file: PromptFile | None = Field(default=None, description="The same as a text file, in place of `prompt`.")

    tools: tuple[Text, ...] = Field(
        default=(),
        description="Globs of the only tools that agents have there. Each table that matches narrows. Empty: as everywhere else.",
    )
    secrets: Strictness | None = Field(default=None, description="Stricter than `guard.secrets` there.")
    personal: Strictness | None = Field(default=None, description="Stricter than `guard.personal` there.")

    @property
    def guarded(self) -> Mapping[Detector, Strictness]:
        """Strictness of the leak guard there, as far as the table says so."""
        given = {Detector.HELD: self.secrets, Detector.SHAPE: self.secrets, Detector.PERSONAL: self.personal}
        return {detector: strictness for detector, strictness in given.items() if strictness}

    @model_validator(mode="after")
    def _one_prompt(self) -> Self:
        if self.prompt and self.prompt_file:
            raise ValueError("has a prompt and a prompt_file; take one of them out")
        return self

    @property
    def prompt_key(self) -> str:
        """The text that is added to the agent's prompt, or the file that holds it."""
        return str(self.prompt_file) if self.prompt_file else self.prompt

    @property
    def added(self) -> str:
        """Words that are added to the agent's prompt."""
        return self.prompt_file.read_text(encoding="utf-8").strip() if self.prompt_file else self.prompt


class Sessions(Section):
    """Conversations."""

    busy: Busy = Field(
        default=Busy.STEER,
        description='A message that comes while the agent works: "steer" joins the work, "followup" is answered '
        'separately, "collect" shares the next answer with others that are waiting. Nobody can join '
        "the work of somebody who may do more, and a message from a program never joins work of "
        "others: it waits for its turn.",
    )
    freshness_hours: Number = Field(
        default=24,
        gt=0,
        le=8760,
        description="After an outage, messages older than this are not acted on; their senders are told.",
    )
    file_mib: Number = Field(
        default=20, gt=0, le=2_000, description="Largest file accepted from a chat platform, in MiB."
    )
    message_files_mib: Number = Field(
        default=100, gt=0, le=20_000, description="Most that all files of one message may take together, in MiB."
    )
    file_seconds: Number = Field(
        default=60,
        gt=0,
        le=3600,
        description="Longest wait for a file from a chat platform before the model is called.",
    )
    rest_hours: Number = Field(
        default=24, gt=0, le=8760, description="Hours of silence in a conversation after which `restore` applies."
    )
    restore: Literal["transcript", "window", "summary", "none"] = Field(
        default="transcript",
        description='What the agent still knows of a conversation after such a silence: "transcript": all of it; "window": the '
        'last ten messages; "summary": a summary; "none": nothing. It always knows what it did and what is waiting.',
    )

    @property
    def freshness(self) -> timedelta:
        return timedelta(hours=self.freshness_hours)

    @property
    def rest(self) -> timedelta:
        return timedelta(hours=self.rest_hours)
