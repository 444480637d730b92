"""Tokens of programs: kept by their hash, revoked for all nodes, used without a write a call."""

from __future__ import annotations

import asyncio

from runtime.contract import Role
from runtime.domain.programs.token import ProgramToken
from tests.contract.store.stage import ADA, Stage

CI_TOKEN = ProgramToken(name="ci", role=Role.USER, agents=("ops",), rooms=("slack:work/*",), made_by="Ada")


async def test_a_token_is_known_by_its_secret_until_it_is_revoked(stage: Stage) -> None:
    book = stage.store.programs
    assert await book.token_of("sbx_one") is None
    assert await book.make_token(CI_TOKEN, "sbx_one")
    assert not await book.make_token(CI_TOKEN, "sbx_two"), "a valid one stays"
    token, who = await book.token_of("sbx_one") or (None, None)
    assert token is not None
    assert who is not None
    assert (token.agents, token.rooms, who.name, who.role) == (("ops",), ("slack:work/*",), "ci", Role.USER)
    assert await stage.rows("SELECT count(*) FROM tokens WHERE hash LIKE '%sbx_%'") == [(0,)]
    assert await book.revoke_token("ci", "Ada")
    assert not await book.revoke_token("ci", "Ada")
    token, _ = await book.token_of("sbx_one") or (None, None)
    assert token is not None
    assert "revoked" in token.fault(stage.clock())
    assert await stage.audit("token made") == [("Ada", "ci", "user")]
    assert await stage.audit("token revoked") == [("Ada", "ci", "")]


async def test_of_two_made_at_once_by_one_name_one_is_made_and_the_other_is_told(stage: Stage) -> None:
    book, secrets = stage.store.programs, [f"sbx_{n}" for n in range(6)]
    await book.make_token(CI_TOKEN, "sbx_before")  # so that its program is known
    await book.revoke_token("ci", "Ada")
    made = await asyncio.gather(*(book.make_token(CI_TOKEN, secret) for secret in secrets))
    assert made.count(True) == 1
    held = [secret for secret in secrets if await book.token_of(secret)]
    assert held == [secrets[made.index(True)]]
    assert await stage.audit("token made") == [("Ada", "ci", "user")] * 2


async def test_a_new_token_of_a_program_gives_the_same_program_its_new_role(stage: Stage) -> None:
    book = stage.store.programs
    await book.make_token(CI_TOKEN, "sbx_one")
    await book.revoke_token("ci", "Ada")
    assert await book.make_token(ProgramToken(name="ci", role=Role.OPERATOR, made_by="Ada"), "sbx_two")
    assert await book.token_of("sbx_one") is None
    _, who = await book.token_of("sbx_two") or (None, None)
    assert who is not None
    assert who.role is Role.OPERATOR
    assert len([known for known in await stage.store.people.people() if known.person.name == "ci"]) == 1


async def test_a_program_that_was_merged_with_a_person_does_not_change_their_role(stage: Stage) -> None:
    book = stage.store.programs
    await book.make_token(CI_TOKEN, "sbx_one")
    ada = await stage.store.people.identified(ADA)
    assert ada is not None
    await stage.store.people.merge("ci", ada.name, actor="Ada")
    await book.revoke_token("ci", "Ada")
    await book.make_token(CI_TOKEN, "sbx_two")
    after = await stage.store.people.identified(ADA)
    assert after is not None
    assert after.role is Role.OWNER


async def test_a_program_that_was_removed_is_nobody(stage: Stage) -> None:
    book = stage.store.programs
    await book.make_token(CI_TOKEN, "sbx_one")
    await stage.store.people.remove("ci", actor="Ada")
    _, who = await book.token_of("sbx_one") or (None, "somebody")
    assert who is None


async def test_its_last_use_is_written_once_an_hour(stage: Stage) -> None:
    book = stage.store.programs
    await book.make_token(CI_TOKEN, "sbx_one")
    await book.note_use("ci")
    first = (await book.tokens())[0].used_at
    stage.clock.advance(seconds=1800)
    await book.note_use("ci")
    assert (await book.tokens())[0].used_at == first
    stage.clock.advance(seconds=1860)
    await book.note_use("ci")
    assert (await book.tokens())[0].used_at == stage.clock()
