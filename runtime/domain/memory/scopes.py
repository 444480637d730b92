"""Rule of who may read a memory, and the digest by which the rows of a reader are looked for. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.contract.memory.facts import Reader, Scope, ScopeKind
from runtime.domain.ids import digest

REACH_CHARS: Final = 24
"""Hexadecimal digits of a digest: 96 bits, so that no two scopes share one."""


def reach_of(agent: str, scope: Scope) -> str:
    """The digest of an agent and a scope, as the column `reach` has it: another one for each pair, whatever is in a name.

    >>> reach_of("main", Scope(ScopeKind.AGENT)) == reach_of("ops", Scope(ScopeKind.AGENT))
    False
    """
    return digest(f"{len(agent)}\n{agent}\n{scope}")[:REACH_CHARS]


def reaches_of(reader: Reader) -> Sequence[str]:
    """Digests of everything that a reader may see: at most four."""
    return [reach_of(agent, scope) for agent, scope in reader.scopes()]


def may_read(reader: Reader, agent: str, scope: Scope) -> bool:
    """True if a row of `agent` in `scope` may be read there. Said apart from `Reader.scopes`, so that a test can compare.

    >>> from runtime.contract import Address
    >>> group = Reader("main", Address.parse("slack:work/C1"))
    >>> may_read(group, "main", Scope(ScopeKind.PERSON, "p1")), may_read(group, "ops", Scope(ScopeKind.AGENT))
    (False, False)
    """
    if scope.kind not in reader.kinds:
        return False
    match scope.kind:
        case ScopeKind.ALL:
            return agent == ""
        case ScopeKind.AGENT:
            return agent == reader.agent
        case ScopeKind.ROOM:
            return agent == reader.agent and scope.subject == str(reader.room.whole_room)
        case ScopeKind.PERSON:
            return agent == reader.agent and reader.person is not None and scope.subject == reader.person
