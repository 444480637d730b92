"""Git's smart HTTP as bytes: what a server offers, a request for a pack, a push and what became of it. Pure.

Version 0 of the protocol, which every server speaks; one request for each exchange. Sources: gitprotocol-http(5),
gitprotocol-pack(5), gitprotocol-capabilities(5), read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

FLUSH: Final = b"0000"
AGENT: Final = "agent=signalbox"
OBJECT: Final = re.compile(r"[0-9a-f]{40}")
NO_OBJECT: Final = "0" * 40
LINE_MAX_BYTES: Final = 65_520
REFS_MAX: Final = 50_000
SAID_MAX_CHARS: Final = 300
"""Characters of what a server says of a refusal."""
PACK_BEGINS: Final = b"PACK"
PACK_BAND, WORDS_BAND, FATAL_BAND = 1, 2, 3  # of side-band-64k


class NoGit(Exception):
    """Bytes that no git server sends, or a refusal. The text is ours; `said` are words of the server's own on it."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.said = " ".join(said.split())[:SAID_MAX_CHARS]


@dataclass(frozen=True, slots=True)
class Offer:
    """Refs of a repository elsewhere with their objects, and the abilities of its server."""

    refs: Mapping[str, str]
    abilities: frozenset[str]

    @property
    def head(self) -> str:
        """Name of its usual branch; empty where it has none."""
        named = next(
            (one.rpartition(":refs/heads/")[2] for one in self.abilities if one.startswith("symref=HEAD:")), ""
        )
        if named:
            return named
        tip = self.refs.get("HEAD")
        return next((name for name, object_id in self.branches.items() if object_id == tip), "")

    @property
    def branches(self) -> Mapping[str, str]:
        return {
            name.removeprefix("refs/heads/"): tip for name, tip in self.refs.items() if name.startswith("refs/heads/")
        }


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack with the commits at which its history was cut off."""

    data: bytes
    shallow: tuple[str, ...]


def packet(text: str) -> bytes:
    """A line with its length.

    >>> packet("done")
    b'0009done\\n'
    """
    line = text.encode() + b"\n"
    return b"%04x" % (len(line) + 4) + line


def packets(data: bytes) -> Iterator[bytes | None]:
    """Lines as they came; None for a flush. Errors: NoGit."""
    at = 0
    while at < len(data):
        try:
            length = int(data[at : at + 4], 16)
        except ValueError:
            raise NoGit("its answer is not git's") from None
        if length == 0:
            yield None
            at += 4
            continue
        if not 4 <= length <= LINE_MAX_BYTES + 4 or at + length > len(data):
            raise NoGit("its answer ends in the middle")
        yield data[at + 4 : at + length]
        at += length


def offer(data: bytes, service: str) -> Offer:
    """Read what a server offers for `service`. Errors: NoGit."""
    lines = list(packets(data))
    if not lines or (lines[0] or b"").strip() != f"# service={service}".encode():
        raise NoGit("it does not speak git's smart HTTP")
    refs: dict[str, str] = {}
    abilities: frozenset[str] = frozenset()
    for line in filter(None, lines[1:]):
        told, _, able = line.partition(b"\0")
        if able:
            abilities = frozenset(able.decode("utf-8", "replace").split())
        object_id, _, name = told.decode("utf-8", "replace").strip().partition(" ")
        if object_id == "ERR" or not OBJECT.fullmatch(object_id):
            raise NoGit("it tells of no branches", f"{object_id} {name}")
        if name != "capabilities^{}" and len(refs) < REFS_MAX:
            refs[name] = object_id
    if any(one.startswith("object-format=") and one != "object-format=sha1" for one in abilities):
        raise NoGit("its objects have names of a kind that is not supported")
    return Offer(refs, abilities)


# --------------------------------------------------------------------------------------------------------------- fetching


def wish(want: str, have: Sequence[str], offered: Offer, depth: int = 0) -> bytes:
    """Request for what is missing to `want`. Errors: NoGit where the server can't cut a history off."""
    usual = ("ofs-delta", "side-band-64k", "thin-pack", "no-progress")
    able = [one for one in usual if one in offered.abilities]
    if depth and "shallow" not in offered.abilities:
        raise NoGit("it can't leave earlier commits out")
    first = packet(f"want {want} {' '.join([*able, AGENT])}")
    cut = packet(f"deepen {depth}") if depth else b""
    return b"".join([first, cut, FLUSH, *(packet(f"have {one}") for one in have), packet("done")])


def received(data: bytes) -> Pack:
    """The pack of an answer to a wish. Errors: NoGit, with the server's own words."""
    shallow: list[str] = []
    at = 0
    while at < len(data) and not data.startswith(PACK_BEGINS, at):  # lines until the pack itself, where it has no bands
        line = next(packets(data[at : at + LINE_MAX_BYTES + 4]), None)
        at += 4 if line is None else len(line) + 4
        if line is None:
            continue
        if line[:1] in (b"\x01", b"\x02", b"\x03"):
            at -= len(line) + 4
            return Pack(_unbanded(data[at:]), tuple(shallow))
        told = line.decode("utf-8", "replace").strip()
        if told.startswith("shallow "):
            shallow += _objects(told.removeprefix("shallow "))
        elif told.startswith("ERR "):
            raise NoGit("it refuses", told.removeprefix("ERR "))
    if at >= len(data):
        raise NoGit("it sent no pack")
    return Pack(data[at:], tuple(shallow))


def _objects(name: str) -> list[str]:
    """The name of an object, which becomes a word of a command. Errors: NoGit for anything else."""
    if not OBJECT.fullmatch(name):
        raise NoGit("it cuts the history off at what is no commit", name)
    return [name]


def _unbanded(data: bytes) -> bytes:
    pieces: list[bytes] = []
    for line in packets(data):
        if line and line[0] == PACK_BAND:
            pieces.append(line[1:])
        elif line and line[0] == FATAL_BAND:
            raise NoGit("it broke off", line[1:].decode("utf-8", "replace"))
    return b"".join(pieces)


# ---------------------------------------------------------------------------------------------------------------- pushing


def push(old: str, new: str, branch: str, offered: Offer, pack: bytes) -> bytes:
    """Request that moves a branch from `old` to `new`. Errors: NoGit where the server would not say what became of it."""
    if "report-status" not in offered.abilities:
        raise NoGit("it would not tell whether it took the commits")
    able = ["report-status", *(["side-band-64k"] if "side-band-64k" in offered.abilities else []), AGENT]
    line = f"{old} {new} refs/heads/{branch}".encode() + b"\0" + " ".join(able).encode()
    return b"%04x" % (len(line) + 4) + line + FLUSH + pack


@dataclass(frozen=True, slots=True)
class Report:
    """Outcome of a push. `refusal` is empty where the branch was moved; `said` are other words of the server."""

    refusal: str
    said: str


def report(data: bytes, branch: str) -> Report:
    """Read what became of a push. Errors: NoGit where nothing is said of it."""
    banded = list(packets(data))
    said = "".join(line[1:].decode("utf-8", "replace") for line in banded if line and line[0] == WORDS_BAND)
    inner = b"".join(line[1:] for line in banded if line and line[0] == PACK_BAND)
    fatal = next((line[1:] for line in banded if line and line[0] == FATAL_BAND), b"")
    lines = list(packets(inner)) if inner else banded
    told = [line.decode("utf-8", "replace").strip() for line in lines if line]
    ref = f"refs/heads/{branch}"
    if f"ok {ref}" in told and "unpack ok" in told:
        return Report("", said.strip())
    refused = next((one.removeprefix(f"ng {ref}") for one in told if one.startswith(f"ng {ref}")), "")
    unpacked = next((one for one in told if one.startswith("unpack ") and one != "unpack ok"), "")
    why = " ".join((refused or unpacked or fatal.decode("utf-8", "replace")).split())[:300]
    if not why:
        raise NoGit("it did not say whether it took the commits")
    return Report(why, said.strip())


def reachable(lines: Iterable[str]) -> list[str]:
    """Names of objects, one a line, that are some."""
    return [line for line in (one.strip() for one in lines) if OBJECT.fullmatch(line)]
