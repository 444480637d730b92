"""The console about people: added, promoted, linked and paired."""

from __future__ import annotations

import pytest

from bot.node.login import command_line, login, sender
from runtime.contract import Address
from runtime.http.errors import Refusal
from tests.unit.bot.fake_store import CODE, crowd, pairing
from tests.unit.bot.operator.console import EVIL, as_person, client, page, same_site, serving


async def test_people_are_added_promoted_and_linked() -> None:
    store = await crowd()
    async with client(store) as api:
        made = await api.add_person("Zoë", "user", ["telegram:7"])
        assert made["identities"][0] == "telegram:7"
        assert (await api.set_role("Zoë", "operator"))["role"] == "operator"
        link = await api.link("Zoë")
        assert link["url"].endswith(link["path"])
        assert store.links[link["path"].removeprefix("/link/")] == "Zoë"
        assert [row["name"] for row in await api.people()] == ["Zoë", "ada", "oscar", "uma"]


async def test_who_changed_people_is_told_to_the_audit() -> None:
    """The holder of the control token has the owner's rights, and not the owner's name."""
    store, here = await crowd(), command_line(login())
    store.unpaired, store.actors = [pairing()], []
    async with client(store) as api:
        await api.add_person("Zoë", "user")
        await api.set_role("Zoë", "viewer")
        await api.link("Zoë")
        await api.pair(CODE)
    assert store.actors == [here] * 4
    async with serving(store) as browser:
        sent = browser.post(
            "/console/api/people/Zo%C3%AB/role", json={"role": "user"}, headers=same_site(browser), **as_person("ada")
        )
        async with sent as answer:
            assert answer.status == 200
    assert store.actors[4:] == ["ada"]


async def test_a_login_that_is_none_is_somebodys() -> None:
    assert [sender(given) for given in (None, "", "%00", "a%0Ab", "x" * 999)] == [
        *["command line of somebody"] * 4,
        f"command line of {'x' * 64}",
    ]


async def test_mistakes_about_people_are_told() -> None:
    async with client(await crowd()) as api:
        for mistake, words in (
            (api.add_person("ada", "user"), "is already taken"),
            (api.add_person("new", "king"), "is not a role"),
            (api.add_person("new", "user", ["nonsense"]), "is not an identity"),
            (api.add_person(" ", "user"), "^Write a name.$"),
            (api.add_person("Ada\u3164", "user"), r"Ada⟨U\+3164⟩.*invisible characters"),
            (api.add_person("A" * 101, "user"), "at most 100 characters, and this one has 101"),
            (api.pair(CODE, "Ada\u3164"), r"Ada⟨U\+3164⟩.*invisible characters"),
            (api.set_role("none", "user"), "nobody named"),
            (api.link("none"), "nobody named"),
            (api.set_role("ada", "user"), "the only owner"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake


async def test_a_pairing_code_makes_whoever_was_sent_it_known() -> None:
    """Scenario 8: and the courier of their room is woken, to tell them."""
    store, nudged = await crowd(), list[Address]()
    store.unpaired = [pairing()]
    async with client(store, nudged=nudged) as api:
        assert [row["identity"] for row in await api.pairings()] == ["telegram:1001"]
        made = await api.pair(CODE)
    assert made["told"] == "Paired: telegram:1001 is now Sam (user)."
    assert (made["name"], made["role"]) == ("Sam", "user")
    assert nudged == [Address("telegram", "77", "1001")]


async def test_mistakes_about_pairing_are_told() -> None:
    async with client(await crowd()) as api:
        for mistake, words in (
            (api.pair("WRONG"), "You have 4 more tries"),
            (api.pair(CODE, "new", "king"), "is not a role"),
            (api.pair(CODE, "ada", "user"), "the only owner"),
        ):
            with pytest.raises(Refusal, match=words):
                await mistake


async def test_only_owners_enter_pairing_codes() -> None:
    store = await crowd()
    store.unpaired = [pairing()]
    async with serving(store) as browser:
        sent = browser.post(
            "/console/api/pairings", json={"code": CODE}, headers=same_site(browser), **as_person("oscar")
        )
        async with sent as answer:
            assert answer.status == 403
    assert len(store.unpaired) == 1


async def test_the_page_of_people_shows_who_waits_and_never_a_code() -> None:
    store = await crowd()
    store.unpaired = [pairing(EVIL)]
    html = await page(store, "/console/people")
    assert "telegram:1001" in html
    assert 'action="/console/api/pairings"' in html
    assert EVIL not in html
    assert CODE not in html
