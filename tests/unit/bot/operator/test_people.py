"""The roster at the console: what an owner may do with people, and what they are told."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from aiohttp.test_utils import make_mocked_request
from aiohttp.web import Request

from bot.console.people.pages import people
from bot.console.people.person import merge, person
from bot.operator.actor import Actor, owner_of
from bot.operator.operations import Operations
from bot.settings.sections.rooms import Access, RoomTable
from bot.settings.settings import Settings
from bot.wiring.identities import written
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import PEOPLE, ApprovalKind, Choice, Identity, Role
from runtime.http.errors import Refusal
from runtime.store.store import Store, open_store
from tests.unit.bot.fake_store import FakeStore, approval, context_of, crowd
from tests.unit.guard.secrets import SECRETS

SETTINGS = Settings(
    access=Access(owners=("telegram:1",), blocked=("Mallory",)),
    rooms=(RoomTable(address="slack:work/C1", people=("Ada",)),),
)


@asynccontextmanager
async def console(notifier: LocalNotifier | None = None) -> AsyncIterator[tuple[Operations, Store]]:
    """An owner's console on a real store, with `SETTINGS`."""
    store = await open_store("sqlite:///:memory:")
    await store.people.add_person("owner", Role.OWNER, [Identity("telegram:1")], actor="")
    for name in ("Ada", "Bob", "Mallory", "<b>Eve"):
        await store.people.add_person(name, Role.USER, [], actor="")
    context = replace(context_of(FakeStore(), notifier), store=store, written=partial(written, SETTINGS))
    yield Operations(context, await owner_of(store.people, "")), store
    await store.close()


def asked_for(name: str, query: str = "") -> Request:
    """A request for somebody's page."""
    return make_mocked_request("GET", f"/console/people/{name}{query}", match_info={"id": name})


async def test_an_owner_renames_merges_signs_out_and_removes() -> None:
    async with console() as (do, store):
        assert (await do.rename_person("Bob", " Bob   Hope "))["told"] == "Bob is now called Bob Hope."
        assert (await do.sign_out("Bob Hope"))[
            "told"
        ] == "Bob Hope is signed out everywhere. Their link no longer works."
        assert (await do.merge_people("<b>Eve", "Bob Hope"))["role"] == "user"
        assert (await do.remove_person("Bob Hope"))["told"].startswith("Bob Hope is removed.")
        assert [known.person.name for known in await store.people.people()] == ["Ada", "Mallory", "owner"]


async def test_a_merge_makes_nobody_an_owner_at_the_next_start() -> None:
    """The settings name an account of the owner's: as somebody else's account it would make them an owner."""
    async with console() as (do, store):
        await store.people.set_role("Bob", Role.OWNER, actor="owner")
        for look in (do.merging, do.merge_people):
            with pytest.raises(Refusal, match=r"access\.owners\. Make <b>Eve an owner first"):
                await look("owner", "<b>Eve")
        assert (await do.merge_people("owner", "Bob"))["role"] == "owner"


@pytest.mark.parametrize("verb", ["sign_out", "remove_person"])
async def test_open_pages_of_a_person_hear_at_once_that_they_are_signed_out(verb: str) -> None:
    notifier = LocalNotifier()
    async with console(notifier) as (do, _):
        rings = notifier.listen(PEOPLE)
        await getattr(do, verb)("Bob")
        assert await rings.within(0)


async def test_mistakes_are_told() -> None:
    async with console() as (do, store):
        await store.people.set_role("Bob", Role.OWNER, actor="owner")
        for mistake, words in (
            (do.rename_person("none", "x"), 'nobody named "none"\\.'),
            (do.rename_person("Bob", "Bob\u3164"), r"Bob⟨U\+3164⟩.*invisible characters"),
            (do.rename_person("Bob", "<b>Eve"), "signalbox people merge"),
            (do.rename_person("Bob", " "), "^Write a name.$"),
            (do.rename_person("Bob", SECRETS["npm"][1]), r"mustn't be stored \(npm token\). Choose another one"),
            (do.add_person(SECRETS["github"][1], "user"), r"mustn't be stored \(GitHub token\)"),
            (do.pair("ABCD2345", SECRETS["gitlab"][1]), r"mustn't be stored \(GitLab token\)"),
            (do.merge_people("Bob", "Bob"), "Name two people"),
            (do.rename_person("Mallory", "Mal"), r"name Mallory in access.blocked. Write Mal there"),
            (do.merge_people("Ada", "Bob"), r"rooms\[1\].people. Write Bob there"),
            (do.remove_person("owner"), r"in access.owners. Take them out there"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake


async def test_only_owners_manage_people() -> None:
    async with console() as (do, store):
        await store.people.set_role("Bob", Role.OPERATOR, actor="owner")
        bob = await store.people.person_named("Bob")
        assert bob
        for_bob = Operations(do._context, Actor(bob.person, bob.identities[0]))
        for attempt in (
            for_bob.rename_person("Ada", "x"),
            for_bob.merge_people("Ada", "Bob"),
            for_bob.sign_out("owner"),
            for_bob.remove_person("Ada"),
        ):
            with pytest.raises(Refusal, match="needs the role owner"):
                await attempt
        assert "Sign out" not in await person(asked_for("Bob"), for_bob)
        assert "api/invitations" not in await people(cast("Request", None), for_bob)


async def test_the_page_offers_an_owner_to_change_people() -> None:
    async with console() as (do, store):
        await store.people.set_link("Bob", "token", actor="owner")
        listed = await people(cast("Request", None), do)
        html = await person(asked_for("Bob"), do)
    assert '<a href="/console/people/Bob">Bob</a>' in listed
    assert '<a href="/console/people/%3Cb%3EEve">&lt;b&gt;Eve</a>' in listed
    for verb in ("role", "rename", "link", "sign-out", "remove", "forget"):
        assert f'action="/console/api/people/Bob/{verb}"' in html
    assert 'action="/console/people/Bob/merge"' in html
    assert 'href="/console/people/Bob/data.zip"' in html
    assert 'data-ask="Remove Bob? They&#x27;ll have to be let in again."' in html
    assert "<b>Eve" not in html
    assert '<option value="">Choose…</option>' in html, "nobody is merged with by not looking"
    assert re.search(r'<option value="Ada">Ada \(\w+', html)


async def test_a_merge_says_first_what_will_happen() -> None:
    async with console() as (do, store):
        await store.people.set_role("Bob", Role.OPERATOR, actor="owner")
        html = await merge(asked_for("Bob", "?into=%3Cb%3EEve"), do)
        assert len(await store.people.people()) == 5
    assert "The role operator of Bob goes. Both accounts have the role user." in html
    assert "1 account or way to sign in" in html
    assert 'action="/console/api/people/Bob/merge"' in html
    assert 'href="/console/people/%3Cb%3EEve/merge?into=Bob"' in html
    assert '<input type="hidden" name="into" value="&lt;b&gt;Eve">' in html


async def test_an_invitation_is_a_link_and_a_code_that_are_told_once() -> None:
    async with console() as (do, _):
        made = await do.invite("viewer", "7d", "https://box.example:8443")
        assert re.fullmatch(r"https://box\.example:8443/join/[\w-]{32}", made["url"])
        assert made["qr"]["path"].count("M") > 200
        assert (made["note"], made["role"], made["state"]) == ("", "viewer", "open")
        here = await do.invite(at="http://127.0.0.1:8080")
        assert "only works on this machine" in here["note"]
        assert made["path"] not in str(await do.invitations())
        for mistake, words in (
            (do.invite("owner"), "A link can't make an owner"),
            (do.invite("boss"), "is not a role"),
            (do.invite("user", "90 days"), "at most 30 days"),
            (do.invite("user", "yesterday"), "yesterday"),
            (do.invite("user", "1d", "javascript:alert(1)//"), "must be the address of this page"),
            (do.revoke_invitation("none"), "isn't open any more"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake
        assert len(await do.invitations()) == 2
        assert (await do.revoke_invitation(made["id"]))["told"].startswith("The invitation is revoked.")


async def test_the_page_asks_whether_to_let_a_stranger_in() -> None:
    about = '{"name": "<b>Sam", "platform": "slack", "id": "slack:T1/U7", "account": "slack:work", "workspace": "T1"}'
    store = await crowd()
    store.asked = [approval(kind=ApprovalKind.PERSON, tool="let in", arguments=about)]
    context = context_of(store)
    html = await people(cast("Request", None), Operations(context, await owner_of(context.store.people, "")))
    assert "Let &lt;b&gt;Sam in?" in html
    assert "<code>slack:T1/U7</code>" in html
    assert [choice for choice in Choice if f'value="{choice}"' in html] == [
        Choice.USER,
        Choice.NO,
        Choice.VIEWER,
        Choice.OPERATOR,
    ]
