"""A skill as somebody proposes it: what it would be, and everything that is wrong with that. No I/O."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from runtime.contract.agents.skills import Proposal
from runtime.domain.skills.skill import SKILL_FILE, SKILL_NAME_MAX_CHARS
from runtime.skills.reading import FILES_MAX, LEFT_OUT, SKILL_FILES, SKILL_MAX_BYTES, FoundSkill, shown, skill_of
from runtime.workspace.safe_fs import BadPath, parts

PROPOSED_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Plainer than others may be called: who approves must not take one name for another."""
PROPOSAL_MAX_CHARS: Final = 200_000
"""Characters of all texts of a proposal: as many as a card can compare."""
PROPOSED_FILES_MAX: Final = 50
FILE_NAME_MAX_BYTES: Final = 255
FOLDERS_DEEP_MAX: Final = 16
WRONG_NAME: Final = (
    "name: {name!r}; expected small letters and digits with single dashes between them, such as sales-note"
)


def faults_of(proposal: Proposal) -> Iterator[str]:
    """Everything that is wrong with a proposal by itself."""
    if not PROPOSED_NAME.fullmatch(proposal.name) or len(proposal.name) > SKILL_NAME_MAX_CHARS:
        yield WRONG_NAME.format(name=proposal.name[:80])
    if len(proposal.files) > PROPOSED_FILES_MAX:
        yield f"files: {len(proposal.files):,}; at most {PROPOSED_FILES_MAX} at once"
    size = len(proposal.text) + sum(map(len, proposal.files.values()))
    if size > PROPOSAL_MAX_CHARS:
        yield f"text and files have {size:,} characters; at most {PROPOSAL_MAX_CHARS:,}"
    for path in (*proposal.files, *proposal.removed)[: 2 * PROPOSED_FILES_MAX]:
        if wrong := _wrong_path(path):
            yield f"{shown(path)!r}: {wrong}"
    for words in (proposal.text, *proposal.files.values()):
        if any("\ud800" <= one <= "\udfff" for one in words):
            yield "text: it has half a surrogate pair in it, which no file can hold"
            return


def _wrong_path(path: str) -> str:
    try:
        names = parts(path)
    except BadPath:
        return "is no path inside a folder"
    if "\\" in path or ":" in path or not path.isprintable():
        return "has a sign that no file of a skill should be called by"
    if path.lower() in {name.lower() for name in SKILL_FILES}:
        return f"{SKILL_FILE} is given as text"
    if not LEFT_OUT.isdisjoint(names):
        return "is no part of a skill"
    if len(names) > FOLDERS_DEEP_MAX:
        return "lies too deep"
    return "is too long" if any(len(name.encode()) > FILE_NAME_MAX_BYTES for name in names) else ""


def contents_of(proposal: Proposal, before: FoundSkill | None) -> Mapping[str, bytes]:
    """Files of the skill as it would be, beside what stays of the one `before`."""
    kept = dict(before.contents) if before else {}
    name = next((one for one in SKILL_FILES if one in kept), SKILL_FILE)
    kept |= {path: text.encode() for path, text in proposal.files.items()} | {name: proposal.text.encode()}
    return {path: kept[path] for path in sorted(kept) if path not in proposal.removed}


def made_of(proposal: Proposal, before: FoundSkill | None) -> FoundSkill:
    """The skill as it would be. What is wrong with it is a value, as with one that is read."""
    contents = contents_of(proposal, before)
    found = skill_of(proposal.name, contents)
    wrong = [*_wrong_together(contents), *_missing(proposal, before)]
    return FoundSkill(proposal.name, wrong=(*found.wrong, *wrong)) if wrong else found


def _wrong_together(contents: Mapping[str, bytes]) -> Iterator[str]:
    if len(contents) > FILES_MAX:
        yield f"it has more than {FILES_MAX} files"
    if sum(map(len, contents.values())) > SKILL_MAX_BYTES:
        yield f"it is larger than {SKILL_MAX_BYTES >> 20} MB"
    folders = {
        "/".join(names[:end]) for path in contents for names in [path.split("/")] for end in range(1, len(names))
    }
    if both := sorted(folders & contents.keys()):
        yield f"{shown(both[0])!r} would be a file and a folder"


def _missing(proposal: Proposal, before: FoundSkill | None) -> Iterator[str]:
    known = before.contents if before else {}
    if gone := [path for path in proposal.removed if path not in known]:
        yield f"removed: there is no file {shown(gone[0])!r}"
    if both := sorted(proposal.files.keys() & set(proposal.removed)):
        yield f"{shown(both[0])!r} is given and removed"


def is_made(proposal: Proposal, now: FoundSkill, base: Mapping[str, str]) -> bool:
    """True if the folder is what this proposal makes of a skill whose files had these hashes, and nothing beside: it was written."""
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in proposal.files.items()}
    name = next((one for one in SKILL_FILES if one in base), SKILL_FILE)
    made = {**base, **hashes, name: hashlib.sha256(proposal.text.encode()).hexdigest()}
    wanted = {path: hashed for path, hashed in made.items() if path not in proposal.removed}
    return now.skill is not None and dict(now.skill.files) == wanted
