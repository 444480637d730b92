"""Skills that owners accepted: one decision for all nodes, told of once, each step in the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from runtime.domain.skills.lock import Standing, digest_of, standing
from runtime.domain.skills.skill import Skill
from tests.contract.store.stage import Stage

FILES: Final = {"SKILL.md": "1", "scripts/a.py": "2"}
NOTES: Final = Skill(name="notes", description="x", files=FILES, digest=digest_of(FILES))
CHANGED: Final = replace(NOTES, files={"SKILL.md": "3"}, digest=digest_of({"SKILL.md": "3"}))


async def test_a_form_is_accepted_until_another_is_there(stage: Stage) -> None:
    book = stage.store.skills
    assert await book.skill_locks() == {}
    assert await book.accept_skill(NOTES, "text", "Ada")
    assert not await book.accept_skill(NOTES, "text", "Otto")
    locks = await book.skill_locks()
    lock = locks["notes"]
    assert (lock.digest, dict(lock.files), lock.text, lock.by) == (NOTES.digest, FILES, "text", "Ada")
    assert lock.at is not None
    assert (standing(NOTES, locks), standing(CHANGED, locks)) == (Standing.ACCEPTED, Standing.CHANGED)
    assert await book.accept_skill(CHANGED, "other", "Ada")
    assert standing(CHANGED, await book.skill_locks()) is Standing.ACCEPTED
    assert await stage.audit("skill accepted") == [("Ada", "notes", NOTES.digest[:12])]
    assert await stage.audit("skill changed") == [("Ada", "notes", CHANGED.digest[:12])]


async def test_an_agents_own_skill_and_a_shared_one_of_its_name_are_accepted_apart(stage: Stage) -> None:
    book, own = stage.store.skills, replace(CHANGED, agent="lab")
    await book.accept_skill(NOTES, "text", "Ada")
    assert standing(own, await book.skill_locks()) is Standing.NEW
    assert standing(replace(NOTES, agent="lab"), await book.skill_locks()) is Standing.ACCEPTED
    assert await book.accept_skill(own, "text", "Ada")
    assert {standing(one, await book.skill_locks()) for one in (NOTES, own)} == {Standing.ACCEPTED}
    assert await stage.audit("skill accepted") == [
        ("Ada", "notes", NOTES.digest[:12]),
        ("Ada", "notes@lab", CHANGED.digest[:12]),
    ]
    assert await book.give_up_skill("notes@lab", "Ada")
    assert standing(NOTES, await book.skill_locks()) is Standing.ACCEPTED


async def test_operators_are_told_of_each_form_once(stage: Stage) -> None:
    book = stage.store.skills
    assert await book.tell_of_skill("notes", NOTES.digest)
    assert not await book.tell_of_skill("notes", NOTES.digest)
    assert standing(NOTES, await book.skill_locks()) is Standing.NEW
    assert await book.tell_of_skill("notes", CHANGED.digest)
    assert len(await stage.audit("skill waits")) == 2
    await book.accept_skill(CHANGED, "", "Ada")
    assert not await book.tell_of_skill("notes", CHANGED.digest)


async def test_a_skill_that_was_removed_is_asked_about_again(stage: Stage) -> None:
    book = stage.store.skills
    await book.accept_skill(NOTES, "text", "Ada")
    assert await book.give_up_skill("notes", "Ada")
    assert not await book.give_up_skill("notes", "Ada")
    assert standing(NOTES, await book.skill_locks()) is Standing.NEW
    await book.use_skill("notes", "Uma", "main in web:main/lobby: /skill notes")
    assert await stage.audit("skill removed") == [("Ada", "notes", "")]
    assert await stage.audit("skill used") == [("Uma", "notes", "main in web:main/lobby: /skill notes")]
