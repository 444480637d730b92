"""A skill as its SKILL.md describes it, and the rules of the Agent Skills specification. No I/O.

Source: agentskills.io/specification, read 2026-11. What is ours stands in its `metadata`, under names that begin with
`signalbox-`, so that other programs read the same file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

SKILL_NAME_MAX_CHARS: Final = 64
DESCRIPTION_MAX_CHARS: Final = 1_024
COMPATIBILITY_MAX_CHARS: Final = 500
HEAD_FIELDS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
OWN_METADATA: Final = "signalbox-"
"""Begins the names in `metadata` that mean something here."""
OWN_NAMES: Final = ("keywords", "bins", "variables", "secrets", "deny-tools", "deny-commands", "deny-output")
"""What may follow it: lists, parted by commas or new lines."""
SCRIPTS: Final = "scripts/"
SKILL_FILE: Final = "SKILL.md"
VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
RESERVED_VARIABLES: Final = frozenset(
    {"PATH", "HOME", "LANG", "TERM", "LD_PRELOAD", "LD_LIBRARY_PATH", "IFS", "BASH_ENV", "ENV"}
)
"""Variables that would change how a program is run at all."""
ALLOWED_TOOL: Final = re.compile(r"(?P<tool>[^\s(),]+)(?:\((?P<only>[^)]*)\))?")
TOOLS_ELSEWHERE: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("shell",),
    "Read": ("read_file",),
    "Write": ("write_file",),
    "Edit": ("write_file",),
    "Glob": ("list_files",),
    "Grep": ("search_files",),
    "LS": ("list_files",),
    "WebFetch": ("http_get",),
    "WebSearch": ("web_search",),
}
"""Names that other programs give to tools as ours."""


class Source(IntEnum):
    """Places of skills; of two with one name the later place has the one that counts."""

    SHIPPED = 1  # it came with the package, and is trusted as the package is
    USER = 2  # in the user's folder, or beside the settings file
    SETTINGS = 3  # in a folder that the settings name
    AGENT = 4  # in an agent's own folder

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of a skill: programs, variables and secrets, by name."""

    bins: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guardrails:
    """Things that a skill forbids while it is in use. It can only take something away.

    `tools` are names or globs, `commands` beginnings of shell commands, and `output` words that no reply may have.
    """

    tools: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


NEEDS_NOTHING: Final = Needs()
UNGUARDED: Final = Guardrails()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill. `files` has each of its files by path with its SHA-256; `body` is its text behind the head.

    `allowed` are the only tools that its work needs, as we name them; None where it says nothing.
    """

    name: str
    description: str
    body: str = ""
    source: Source = Source.USER
    folder: str = ""
    agent: str = ""
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[str, ...] | None = None
    keywords: tuple[str, ...] = ()
    needs: Needs = NEEDS_NOTHING
    guardrails: Guardrails = UNGUARDED
    files: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    @property
    def locked_as(self) -> str:
        """Its name in the locks: that of an agent's own skill names the agent too, since a shared one may be called the same."""
        return f"{self.name}@{self.agent}" if self.agent else self.name

    @property
    def scripts(self) -> tuple[str, ...]:
        """Names of its scripts, below `scripts/`."""
        return tuple(sorted(path.removeprefix(SCRIPTS) for path in self.files if path.startswith(SCRIPTS)))


def faults(head: Mapping[str, object], folder: str) -> Iterator[str]:
    """Everything that the specification objects to in the head of a SKILL.md in a folder of that name."""
    if strange := sorted(set(head) - set(HEAD_FIELDS)):
        yield f"{', '.join(strange)}: no such field; there are {', '.join(HEAD_FIELDS)}"
    yield from _name_faults(head.get("name"), folder)
    description = head.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "description: is missing; say what the skill does and when to use it"
    elif len(description) > DESCRIPTION_MAX_CHARS:
        yield f"description: {len(description):,} characters; at most {DESCRIPTION_MAX_CHARS:,}"
    compatibility = head.get("compatibility", "-")
    if not isinstance(compatibility, str):
        yield "compatibility: expected a text"
    elif len(compatibility) > COMPATIBILITY_MAX_CHARS:
        yield f"compatibility: {len(compatibility)} characters; at most {COMPATIBILITY_MAX_CHARS}"
    if not isinstance(head.get("allowed-tools", ""), str) and not _is_list_of_texts(head["allowed-tools"]):
        yield "allowed-tools: expected names parted by spaces"
    yield from _declaration_faults(head.get("metadata"))


def _name_faults(name: object, folder: str) -> Iterator[str]:
    if not isinstance(name, str) or not name.strip():
        yield "name: is missing"
        return
    name, folder = normal(name), unicodedata.normalize("NFKC", folder)
    if len(name) > SKILL_NAME_MAX_CHARS:
        yield f"name: {len(name)} characters; at most {SKILL_NAME_MAX_CHARS}"
    if (
        name != name.lower()
        or name.strip("-") != name
        or "--" in name
        or not all(one.isalnum() or one == "-" for one in name)
    ):
        yield f'name: "{name[:80]}"; expected small letters, digits and single dashes between them'
    if name != folder:
        yield f'name: "{name[:80]}" is not the name of its folder, "{folder}"'


def _declaration_faults(metadata: object) -> Iterator[str]:
    """Of what is ours in `metadata`. Other programs have no opinion on it."""
    if not isinstance(metadata, Mapping):
        return
    for key in metadata:
        if str(key).startswith(OWN_METADATA) and str(key).removeprefix(OWN_METADATA) not in OWN_NAMES:
            yield f"metadata.{key}: no such name; there are {', '.join(OWN_METADATA + name for name in OWN_NAMES)}"
    for kind in ("variables", "secrets"):
        for name in listed(metadata.get(OWN_METADATA + kind)):
            if not VARIABLE_NAME.fullmatch(name) or name.upper() in RESERVED_VARIABLES:
                yield f'metadata.{OWN_METADATA}{kind}: "{name[:80]}" can\'t be set for a script'


def made(head: Mapping[str, object], body: str) -> Skill:
    """The skill of a head without faults."""
    given = head.get("metadata")
    metadata = {str(key): str(value) for key, value in given.items()} if isinstance(given, Mapping) else {}
    declared = {name: listed(metadata.get(OWN_METADATA + name)) for name in OWN_NAMES}
    return Skill(
        name=normal(str(head["name"])),
        description=" ".join(str(head["description"]).split()),
        body=body.strip(),
        license=str(head.get("license") or ""),
        compatibility=str(head.get("compatibility") or ""),
        metadata=metadata,
        allowed=_tools(head["allowed-tools"]) if "allowed-tools" in head else None,
        keywords=declared["keywords"],
        needs=Needs(declared["bins"], declared["variables"], declared["secrets"]),
        guardrails=Guardrails(declared["deny-tools"], declared["deny-commands"], declared["deny-output"]),
    )


def normal(name: str) -> str:
    return unicodedata.normalize("NFKC", name.strip())


def listed(value: object) -> tuple[str, ...]:
    """Entries of a list that is one text.

    >>> listed("rm -rf, git push --force")
    ('rm -rf', 'git push --force')
    """
    return tuple(" ".join(one.split()) for one in re.split(r"[,\n]", str(value or "")) if one.strip())


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _tools(value: object) -> tuple[str, ...]:
    """Tools by our names. What stands in brackets, such as Bash(git:*), is left to the policy, which knows better."""
    text = " ".join(value) if isinstance(value, list) else str(value)
    names = [found["tool"] for found in ALLOWED_TOOL.finditer(text)]
    return tuple(dict.fromkeys(ours for name in names for ours in TOOLS_ELSEWHERE.get(name, (name,))))
