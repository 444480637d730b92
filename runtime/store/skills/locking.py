"""A skill is accepted, given up, told of and used, each with its row in the audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import bindparam, delete, select, update

from runtime.domain.skills.lock import SKILL_TEXT_MAX_CHARS, Locked
from runtime.domain.skills.skill import Skill
from runtime.store.common import add, fact, put
from runtime.store.schema import skill_locks
from runtime.store.sql.driver import Op, maybe_moment, micros

SKILL_LOCKS = select(
    skill_locks.c.name,
    skill_locks.c.digest,
    skill_locks.c.files,
    skill_locks.c.text,
    skill_locks.c.accepted_by,
    skill_locks.c.accepted_at,
    skill_locks.c.told,
).order_by(skill_locks.c.name)
LOCK_OF = select(skill_locks.c.digest, skill_locks.c.told, skill_locks.c.told_at).where(
    skill_locks.c.name == bindparam("n")
)
ACCEPT_FORM = put(skill_locks)
NEW_LOCK = add(skill_locks).on_conflict_do_nothing(index_elements=[skill_locks.c.name])
NOTE_TOLD = (
    update(skill_locks)
    .where(skill_locks.c.name == bindparam("n"), skill_locks.c.told != bindparam("digest"))
    .values(told=bindparam("digest"), told_at=bindparam("at"))
    .returning(skill_locks.c.name)
)
GIVE_UP = delete(skill_locks).where(skill_locks.c.name == bindparam("n")).returning(skill_locks.c.name)
DIGEST_SHOWN = 12
"""Letters of a hash in the audit."""


def locks() -> Op[Mapping[str, Locked]]:
    rows = yield SKILL_LOCKS, {}
    return {
        name: Locked(name, digest, json.loads(files), text, by, maybe_moment(at), told)
        for name, digest, files, text, by, at, told in rows
    }


def accept_skill(skill: Skill, text: str, by: str, now: datetime) -> Op[bool]:
    """Accept a form for good, until another is there; false where it is accepted already."""
    rows = yield LOCK_OF, {"n": skill.locked_as}
    if rows and rows[0][0] == skill.digest:
        return False
    yield (
        ACCEPT_FORM,
        {
            "name": skill.locked_as,
            "digest": skill.digest,
            "files": json.dumps(dict(sorted(skill.files.items()))),
            "text": text[:SKILL_TEXT_MAX_CHARS],
            "accepted_by": by,
            "accepted_at": micros(now),
            "told": skill.digest,
            "told_at": micros(now),
        },
    )
    kind = "skill changed" if rows and rows[0][0] else "skill accepted"
    yield from fact(now, kind, by, skill.locked_as, skill.digest[:DIGEST_SHOWN])
    return True


def tell_of_skill(name: str, digest: str, now: datetime) -> Op[bool]:
    """Note that operators are told of a form; false where they were, by this process or another one."""
    nobody = {"digest": "", "files": "{}", "text": "", "accepted_by": "", "accepted_at": None, "told": ""}
    yield NEW_LOCK, {"name": name, **nobody, "told_at": micros(now)}
    if not (yield NOTE_TOLD, {"n": name, "digest": digest, "at": micros(now)}):
        return False
    yield from fact(now, "skill waits", "", name, digest[:DIGEST_SHOWN])
    return True


def give_up_skill(name: str, by: str, now: datetime) -> Op[bool]:
    """Forget what was accepted of a skill; false where nothing was."""
    if not (yield GIVE_UP, {"n": name}):
        return False
    yield from fact(now, "skill removed", by, name)
    return True


def use_skill(name: str, by: str, why: str, now: datetime) -> Op[None]:
    yield from fact(now, "skill used", by, name, why)
