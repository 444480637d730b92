"""Forgetting and export at the console: who may, what is told first, and what is left to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.operator.actor import Actor, owner_of
from bot.operator.operations import Operations
from bot.settings.sections.rooms import Access
from bot.settings.settings import Settings
from bot.wiring.identities import written
from bot.wiring.safety.forgetting import folders_of, forgetter_of
from runtime.contract import Identity, Role
from runtime.http.errors import Refusal
from runtime.store.store import Store, open_store
from tests.contract.store.stage import HandClock
from tests.unit.bot.fake_store import FakeStore, context_of


@asynccontextmanager
async def console(folder: Path) -> AsyncIterator[tuple[Operations, Store]]:
    """An owner's console on a real store, whose settings name the first owner."""
    settings = Settings(access=Access(owners=("telegram:1",)), data_dir=folder, workspace_dir=folder / "w")
    store = await open_store("sqlite:///:memory:", now=HandClock())
    await store.people.add_person("owner", Role.OWNER, [Identity("telegram:1")], actor="")
    await store.people.add_person("Bob", Role.USER, [Identity("telegram:2")], actor="")
    context = replace(
        context_of(FakeStore()),
        store=store,
        written=partial(written, settings),
        forgetter=forgetter_of(settings, store, lambda: folders_of(settings, [])),
    )
    yield Operations(context, await owner_of(store.people, "")), store
    await store.close()


async def test_what_it_would_do_is_told_first_and_changes_nothing(tmp_path: Path) -> None:
    async with console(tmp_path) as (do, store):
        told = await do.forget_person("Bob")
        assert told["told"].startswith("Bob is forgotten for good")
        assert "telegram:2" in told["identities"]
        assert any("backups" in place for place in told["outside"])
        assert await store.people.person_named("Bob")


async def test_whoever_begins_it_sees_how_far_it_is_until_the_end(tmp_path: Path) -> None:
    async with console(tmp_path) as (do, store):
        now = await do.forget_person("Bob", confirm="Bob")
        assert (now["done"], now["step"]) == (False, 1)
        while not now["done"]:
            now = await do.continue_forgetting(now["id"])
        assert [(one["mark"], one["done"]) for one in await do.forgettings()] == [(now["mark"], True)]
        assert await store.people.person_named("Bob") is None


@pytest.mark.parametrize(
    ("name", "confirm", "why"),
    [
        ("Nobody", "Nobody", 'nobody named "Nobody"'),
        ("Bob", "bob", "write that name once more"),
        ("owner", "owner", r"in access.owners. Take them out there"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason(name: str, confirm: str, why: str, tmp_path: Path) -> None:
    async with console(tmp_path) as (do, store):
        with pytest.raises(Refusal, match=why):
            await do.forget_person(name, confirm=confirm)
        assert await store.people.person_named("Bob")


async def test_only_owners_may(tmp_path: Path) -> None:
    async with console(tmp_path) as (do, store):
        bob = await store.people.person_named("Bob")
        assert bob
        for_bob = Operations(do._context, Actor(bob.person, Identity("web:bob")))
        for work in (for_bob.forget_person("owner"), for_bob.export_person("Bob"), for_bob.forgettings()):
            with pytest.raises(Refusal, match="needs the role owner"):
                await work


async def test_an_export_has_their_rows_and_the_audit_says_who_made_it(tmp_path: Path) -> None:
    async with console(tmp_path) as (do, store):
        plan = await do.export_person("Bob")
        found: dict[str, Any] = {}
        for table in plan["tables"]:
            page = await do.export_page("Bob", {"table": table, "after": None})
            if page["rows"]:
                found[table] = page["rows"]
        assert [row["name"] for row in found["people"]] == ["Bob"]
        assert {row["identity"] for row in found["identities"]} >= {"telegram:2"}
        assert {row["kind"] for row in found["audit"]} == {"person added", "person exported"}
        assert "link_hash" not in found["people"][0]
        [row] = await store.audit.newest_audit("person exported", limit=9)
        assert row.actor == do.actor.name
