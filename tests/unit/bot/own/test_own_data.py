"""One's own data at the page of a whole process: what is shown, exported and changed, and whose it is."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from runtime.contract import Role
from runtime.contract.memory.facts import MemoryRequest, Scope, ScopeKind
from runtime.store.protocol import Known
from tests.security.running import Running, running

SECRET = "zebra-7731-of-the-user"
ELSEWHERE = "user owes me 40 francs"


async def person(house: Running, name: str) -> Known:
    known = await house.app.store.people.person_named(name)
    assert known
    return known


async def remember(house: Running, name: str, text: str) -> str:
    scope = Scope(ScopeKind.PERSON, (await person(house, name)).person.id)
    wanted = MemoryRequest(text, ScopeKind.PERSON)
    kept = await house.app.store.memories.keep_given(wanted, "main", scope, actor="test")
    assert not isinstance(kept, str)
    return kept.memory.id


async def posted(house: Running, who: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
    answer = await house.ask("POST", f"/api/me/{path}", who, body or {})
    return answer.status, json.loads(answer.text)


async def exported(house: Running, who: str) -> dict[str, str]:
    headers = {**house.ways[who], "Sec-Fetch-Site": "same-origin"}
    async with house.session.get(f"{house.url}/me/data.zip", headers=headers) as answer:
        assert answer.status == 200
        archive = zipfile.ZipFile(io.BytesIO(await answer.read()))
    return {name: archive.read(name).decode() for name in archive.namelist()}


async def test_everybody_sees_their_own_and_exports_nothing_that_others_wrote_elsewhere(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        assert (await house.say("aaaaaaaaaaaaaaaa", "user", f"hello, my number is {SECRET}")).status == 202
        assert (await house.say("bbbbbbbbbbbbbbbb", "operator", ELSEWHERE)).status == 202
        await remember(house, "user", "likes short answers")
        await remember(house, "operator", "likes long answers")
        page = (await house.ask("GET", "/me", "user")).text
        viewer = (await house.ask("GET", "/me", "viewer")).text
        found = await exported(house, "user")
        by_owner = await house.api.export_page("user", {"table": "signals", "after": None})
    assert "likes short answers" in page
    assert SECRET in page, "the title of their conversation"
    assert not any(words in page for words in ("likes long answers", ELSEWHERE, '"/console"'))
    assert SECRET not in viewer
    everything = "\n".join(found.values())
    assert SECRET in found["signals.jsonl"]
    assert "likes short answers" in found["memories.jsonl"]
    assert [json.loads(line)["name"] for line in found["people.jsonl"].splitlines()] == ["user"]
    assert ELSEWHERE not in everything
    assert ELSEWHERE in str(by_owner), "an owner's export has it"
    assert {json.loads(line)["actor"] for line in found["audit.jsonl"].splitlines()} >= {"user"}


async def test_a_name_that_was_somebody_elses_shows_nothing_of_theirs(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        people, audit = house.app.store.people, house.app.store.audit
        assert (await house.say("bbbbbbbbbbbbbbbb", "operator", ELSEWHERE)).status == 202
        assert (await posted(house, "operator", "forget", {"confirm": "operator"}))[0] == 200
        before = {row.subject for row in await audit.newest_audit("", limit=100)}
        assert "operator" in before
        await people.remove("operator", actor="test")
        await people.rename("user", "operator", actor="test")
        found = await exported(house, "user")
        page = (await house.ask("GET", "/me", "user")).text
        console = (await house.ask("GET", "/console/people/operator", "owner")).text
    assert ELSEWHERE not in "\n".join(found.values())
    rows = [json.loads(line) for line in found["audit.jsonl"].splitlines()]
    assert {row["kind"] for row in rows if row["subject"] == "operator"} >= {"person renamed"}
    assert not {"role set", "person added", "forgetting asked", "person removed"} & {
        row["kind"] for row in rows if "operator" in (row["subject"], row["actor"])
    }
    assert "You asked for it." not in page, "somebody else did"
    assert "asked for it." not in console


async def test_who_was_an_operator_reads_no_title_of_others(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        assert (await house.say("aaaaaaaaaaaaaaaa", "user", f"hello, my number is {SECRET}")).status == 202
        assert (await house.say("aaaaaaaaaaaaaaaa", "operator", "hello")).status == 202
        assert (await house.say("bbbbbbbbbbbbbbbb", "operator", "mine")).status == 202
        assert SECRET in (await house.ask("GET", "/me", "operator")).text, "operators read each room"
        await house.app.store.people.set_role("operator", Role.USER, actor="test")
        page = (await house.ask("GET", "/me", "operator")).text
    assert SECRET not in page
    assert "aaaaaaaaaaaaaaaa" in page
    assert "mine" in page


async def test_a_person_changes_what_is_theirs_and_nothing_of_others(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        mine, theirs = await remember(house, "user", "mine"), await remember(house, "operator", "theirs")
        assert (await posted(house, "user", f"memories/{theirs}/forget"))[0] == 404
        assert (await posted(house, "user", f"memories/{mine[-6:]}/forget"))[0] == 404, "an id, not words"
        assert (await posted(house, "user", f"memories/{mine}/forget"))[0] == 200
        people = house.app.store.people
        one = await people.redeem(house.tokens["user"], "Firefox · Linux")
        two = await people.redeem(house.tokens["user"], "Safari · iPhone")
        other = await people.redeem(house.tokens["operator"])
        assert one
        assert two
        assert other
        house.ways["user"] = {"Cookie": f"{house.cookie}={one}"}
        page = (await house.ask("GET", "/me", "user")).text
        assert "Firefox · Linux (this one)" in page
        assert "Safari · iPhone" in page
        [of_other] = await people.sessions_of("operator")
        assert (await posted(house, "user", f"sessions/{of_other.id}/end"))[0] == 404
        assert (await posted(house, "user", "sessions/end-others"))[1]["told"].startswith(
            "You're signed out in 1 other"
        )
        assert [await people.person_of(each, fresh=True) is not None for each in (one, two, other)] == [
            True,
            False,
            True,
        ]
        [here] = await people.sessions_of("user")
        assert (await posted(house, "user", f"sessions/{here.id}/end"))[0] == 200
        assert (await house.ask("GET", "/me", "user")).status == 401


async def test_who_asks_to_be_forgotten_is_noted_and_an_owner_sees_it(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        assert (await posted(house, "user", "forget", {"confirm": "User"}))[0] == 400
        assert (await posted(house, "owner", "forget", {"confirm": "owner"}))[0] == 409, "owners do it themselves"
        assert (await posted(house, "user", "forget", {"confirm": "user"}))[0] == 200
        assert (await posted(house, "user", "forget", {"confirm": "user"}))[0] == 409, "once"
        assert "You asked for it" in (await house.ask("GET", "/me", "user")).text
        assert "user asked for it." in (await house.ask("GET", "/console/people/user", "owner")).text
        assert "Asks to be forgotten" in (await house.ask("GET", "/console/people", "owner")).text
        assert await house.app.store.people.person_named("user"), "asking changes nothing yet"
        rows = await house.app.store.audit.newest_audit("forgetting asked", limit=9)
        who = (await person(house, "user")).person.id
        assert [(row.actor, row.subject) for row in rows] == [(f"web:{who}", "user")]


async def test_who_changed_their_mind_is_not_asked_for_any_more(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        assert (await posted(house, "user", "forget/withdraw"))[0] == 409, "nobody asked"
        assert (await posted(house, "user", "forget", {"confirm": "user"}))[0] == 200
        assert (await posted(house, "viewer", "forget/withdraw"))[0] == 409, "of themselves alone"
        assert "Take it back" in (await house.ask("GET", "/me", "user")).text
        assert (await posted(house, "user", "forget/withdraw"))[0] == 200
        assert "asked for it." not in (await house.ask("GET", "/console/people/user", "owner")).text
        assert (await posted(house, "user", "forget", {"confirm": "user"}))[0] == 200, "and once more"
        told = [row["text"] for row in await house.api.deliveries()]
        assert sum("asks to be forgotten. An owner" in text for text in told) == 2
        assert sum("no longer asks to be forgotten" in text for text in told) == 1
        for status in (200, 429):
            assert (await posted(house, "user", "forget/withdraw"))[0] == 200
            assert (await posted(house, "user", "forget", {"confirm": "user"}))[0] == status, (
                "operators are told each time"
            )


async def test_a_browser_that_gets_notifications_is_dropped_by_its_person_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        who = (await person(house, "user")).person.id
        await house.app.store.web_push.keep_browser("a-browser", who, "session", "sealed")
        await posted(house, "operator", "browsers/a-browser/drop")
        assert (await house.app.store.people.held_of(who)).browsers_told
        await posted(house, "user", "browsers/a-browser/drop")
        assert not (await house.app.store.people.held_of(who)).browsers_told


async def test_the_zone_of_a_browser_is_kept_where_none_is_known(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        assert (await posted(house, "user", "zone", {"zone": "Nowhere/At_All"}))[0] == 400
        assert await posted(house, "user", "zone", {"zone": "Europe/Berlin"}) == (200, {"zone": "Europe/Berlin"})
        assert await posted(house, "user", "zone", {"zone": "Asia/Tokyo"}) == (200, {"zone": "Europe/Berlin"})
        page = (await house.ask("GET", "/me", "user")).text
    assert "Europe/Berlin" in page
