"""Contents of another bot's folder, in words that are the same for each bot. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Item(StrEnum):
    """Kinds of things that are taken over, in the order in which people read of them."""

    ACCOUNTS = "accounts"
    PEOPLE = "people"
    ROOMS = "rooms"
    MODELS = "models"
    PROMPT = "prompt"
    SCHEDULES = "schedules"
    SKILLS = "skills"
    MEMORY = "memory"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Left:
    """Something that stays behind, and the reason; `fix` is what a person can do instead."""

    item: Item
    name: str
    why: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class FoundAccount:
    """An account on a chat platform that is here too. `secrets` are values by our setting, `missing` those kept elsewhere."""

    channel: str
    name: str
    enabled: bool
    secrets: dict[str, str] = field(repr=False)
    options: dict[str, str] = field(default_factory=dict)
    attention: str = ""


@dataclass(frozen=True, slots=True)
class FoundPerson:
    """Somebody who was let in. `name` is what the other bot called them, if it did."""

    channel: str
    identity: str
    name: str = ""
    was_admin: bool = False


@dataclass(frozen=True, slots=True)
class FoundRoom:
    """A shared room with a rule of its own. `attention` is a word of `rooms.attention`."""

    channel: str
    account: str
    room: str
    attention: str


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model by its LiteLLM name. `key` is the vendor's key, where the folder holds it."""

    name: str
    key: str = field(default="", repr=False)
    api_base: str = ""


@dataclass(frozen=True, slots=True)
class FoundJob:
    """Work by the clock. `when` is in our words, `to` as (channel, account, room)."""

    name: str
    when: str
    zone: str
    prompt: str
    to: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """One sentence that the other bot kept, with the file that it stood in."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class FoundSkillFolder:
    """A folder with a SKILL.md, by its path in the home."""

    name: str
    path: str


@dataclass
class Found:
    """All of a home. `prompt` has each file's text by its name; the first model is the one that answered."""

    program: str
    version: str = ""
    zone: str = ""
    accounts: list[FoundAccount] = field(default_factory=list)
    people: list[FoundPerson] = field(default_factory=list)
    rooms: list[FoundRoom] = field(default_factory=list)
    models: list[FoundModel] = field(default_factory=list)
    prompt: dict[str, str] = field(default_factory=dict)
    jobs: list[FoundJob] = field(default_factory=list)
    skills: list[FoundSkillFolder] = field(default_factory=list)
    memories: list[FoundMemory] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def leave(self, item: Item, name: str, why: str, fix: str = "") -> None:
        self.left.append(Left(item, name, why, fix))
