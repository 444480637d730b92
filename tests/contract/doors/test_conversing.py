"""Programs say, wait and are asked back, as people are; what a token doesn't name isn't told."""

from __future__ import annotations

import aiohttp
import pytest

from bot.doors.operations import NOTHING_THERE
from bot.doors.rooms import NOT_YOURS
from runtime.contract import Address
from runtime.store.operations.history import HistoryStore
from tests.contract.doors.conftest import Doors


async def test_a_message_is_answered_once_however_often_it_is_sent(doors: Doors) -> None:
    await doors.make("ci")
    first = await doors.say("ci", "builds", "Hello there", "key-1")
    assert (first.status, first.headers["Location"]) == (202, f"/api/v1/messages/{first.body['id']}")
    answer = await doors.answered("ci", first.body["id"])
    assert (answer["state"], answer["over"]) == ("done", True)
    assert "Hello there" in answer["text"]
    again = await doors.say("ci", "builds", "Hello there", "key-1")
    assert (again.status, again.body["id"], again.body["repeated"]) == (200, first.body["id"], True)
    assert (await doors.say("ci", "builds", "Something else", "key-1")).status == 409
    assert (await doors.say("ci", "others", "Hello there", "key-1")).status == 409
    runs = await doors.house.api.runs()
    assert len(runs) == 1


async def test_a_stop_with_the_key_of_a_message_is_refused_and_one_with_its_own_is_repeated(doors: Doors) -> None:
    await doors.make("ci")
    said = await doors.say("ci", "builds", "run: uname -a", "key-1")
    await doors.answered("ci", said.body["id"])
    path = "/api/v1/rooms/builds/stop"
    assert (await doors.ask("ci", "POST", path, {}, Idempotency_Key="key-1")).status == 409
    stopped = [await doors.ask("ci", "POST", path, {}, Idempotency_Key="key-2") for _ in range(2)]
    assert [one.status for one in stopped] == [200, 200]
    assert (await doors.answered("ci", said.body["id"]))["state"] == "stopped"


async def test_a_question_in_mid_run_is_told_and_decided_by_an_operators_token(doors: Doors) -> None:
    await doors.make("ci")
    await doors.make("boss", "operator")
    said = await doors.say("ci", "builds", "run: uname -a")
    asking = await doors.answered("ci", said.body["id"])
    assert asking["state"] == "asking"
    question = asking["questions"][0]
    path = f"/api/v1/approvals/{question['id']}"
    assert (await doors.ask("ci", "POST", path, {"choice": "deny"})).status == 403
    seen = await doors.ask("boss", "GET", path)
    stale = await doors.ask("boss", "POST", path, {"choice": "deny"}, If_Match='"other"')
    assert (seen.status, stale.status) == (200, 412)
    decided = await doors.ask("boss", "POST", path, {"choice": "deny"}, If_Match=seen.headers["ETag"])
    assert (decided.status, decided.body["state"]) == (200, "denied")
    answer = await doors.answered("ci", said.body["id"])
    assert (answer["state"], answer["questions"]) == ("done", [])
    own = await doors.answered("boss", (await doors.say("boss", "builds", "run: uname -a")).body["id"])
    path = f"/api/v1/approvals/{own['questions'][0]['id']}"
    assert (await doors.ask("boss", "POST", path, {"choice": "approve"})).status == 403
    assert (await doors.ask("boss", "POST", f"{path}/always", {})).status == 403


async def test_a_token_of_one_agent_for_two_rooms_learns_nothing_of_all_else(doors: Doors) -> None:
    """Scenario 66: the same words for what is there and for what isn't."""
    await doors.make("narrow", "operator", agents=["ops"], rooms=["builds", "web:main/shared*"])
    await doors.make("other")
    theirs = (await doors.say("other", "private", "Hello")).body["id"]
    await doors.answered("other", theirs)
    address = (await doors.ask("other", "GET", f"/api/v1/messages/{theirs}")).body["room"].replace("/", "%2F")
    there = await doors.say("narrow", address, "Let me in")
    nowhere = await doors.say("narrow", "web:main%2Fnothing00", "Let me in")
    unknown = await doors.say("narrow", "slack:work%2FC1", "Let me in")
    own = await doors.say("narrow", "elsewhere", "Let me in")
    assert [one.status for one in (there, nowhere, unknown, own)] == [403] * 4
    assert len({one.body["detail"] for one in (there, nowhere, unknown, own)}) == 1
    hidden = await doors.ask("narrow", "GET", f"/api/v1/messages/{theirs}")
    absent = await doors.ask("narrow", "GET", "/api/v1/messages/nothing")
    assert (
        (hidden.status, hidden.body["detail"]) == (absent.status, absent.body["detail"]) == (404, hidden.body["detail"])
    )
    assert (await doors.ask("narrow", "GET", "/api/v1/runs")).body["data"] == []
    run = (await doors.ask("other", "GET", f"/api/v1/messages/{theirs}")).body["run"]
    told = [
        (await doors.ask("narrow", "GET", f"/api/v1/runs/{one}")).body["detail"] for one in (run, run[:4], "nothing")
    ]
    assert told == [NOTHING_THERE] * 3
    named = [await doors.ask("narrow", "GET", f"/api/v1/runs?room={one}") for one in (address, "web:main%2Fnothing00")]
    assert [(one.status, one.body["detail"]) for one in named] == [(403, NOT_YOURS)] * 2
    assert (await doors.ask("narrow", "GET", "/api/v1/audit")).status == 403
    wrong = await doors.say("narrow", "builds", "Hello", agent="finance")
    assert (wrong.status, "ops" in wrong.body["detail"], "main" in wrong.body["detail"]) == (404, True, False)
    allowed = await doors.say("narrow", "builds", "@finance hello")
    assert allowed.status == 202
    assert (await doors.answered("narrow", allowed.body["id"]))["agent"] == "ops"
    assert [row["agent"] for row in (await doors.ask("narrow", "GET", "/api/v1/runs")).body["data"]] == ["ops"]


async def test_a_signal_is_told_what_attention_decided(doors: Doors) -> None:
    await doors.make("ci")
    event = {"source": "ci", "type": "build.failed", "summary": "Build 7 failed", "room": "builds", "dedupe_key": "b7"}
    told = await doors.ask("ci", "POST", "/api/v1/signals", event)
    again = await doors.ask("ci", "POST", "/api/v1/signals", event)
    low = await doors.ask("ci", "POST", "/api/v1/signals", {**event, "dedupe_key": "b8", "urgency": "low"})
    homeless = await doors.ask("ci", "POST", "/api/v1/signals", {**event, "room": ""})
    large = await doors.ask("ci", "POST", "/api/v1/signals", {**event, "dedupe_key": "b9", "payload": "x" * 70_000})
    assert (told.status, told.body["attention"]) == (202, "runs")
    assert (again.status, again.body["attention"], again.body["id"]) == (200, "same as before", told.body["id"])
    assert (low.status, low.body["attention"]) == (202, "kept as context")
    assert (homeless.status, large.status) == (422, 413)


async def test_a_token_that_is_wrong_late_or_exposed_is_told_why(doors: Doors) -> None:
    secret = await doors.make("ci", per_minute="4")
    nobody = await doors.ask("nobody", "GET", "/api/v1/me")
    assert (nobody.status, nobody.headers["WWW-Authenticate"]) == (401, 'Bearer realm="Signalbox"')
    exposed = await doors.ask("nobody", "GET", f"/api/v1/me?access_token={secret}")
    assert (exposed.status, "address" in exposed.body["detail"]) == (401, True)
    hidden = await doors.ask("nobody", "GET", f"/api/v1/me?a=%73{secret[1:]}&b={secret}")
    assert (hidden.status, hidden.body["detail"]) == (401, exposed.body["detail"])
    facts = await doors.house.api.audit(kind="token in an address")
    assert [(row["who"], secret in str(row)) for row in facts] == [("ci", False)]
    statuses = [(await doors.ask("ci", "GET", "/api/v1/me")).status for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]
    await doors.house.api.revoke_token("ci")
    assert (await doors.house.api.tokens())[0]["state"] == "revoked"


async def test_a_program_uploads_a_file_names_it_and_reads_its_rooms(doors: Doors) -> None:
    await doors.make("ci")
    await doors.make("other")
    path = f"{doors.house.url}/api/v1/rooms/builds/files"
    headers = {"Authorization": f"Bearer {doors.tokens['ci']}"}
    form = aiohttp.FormData()
    form.add_field("file", b"all green", filename="report.txt")
    async with doors.house.session.post(path, headers=headers, data=form) as answer:
        assert (answer.status, (await answer.json())["path"]) == (201, "uploads/report.txt")
    said = await doors.say("ci", "builds", "Hello there", files=["uploads/report.txt"])
    assert (await doors.say("ci", "builds", "Hello there", files=["uploads/none.txt"])).status == 422
    told = await doors.answered("ci", said.body["id"])
    entries = (await doors.ask("ci", "GET", "/api/v1/rooms/builds/messages")).body["data"]
    assert [(one["author"], one["text"]) for one in entries] == [("person", "Hello there"), ("agent", told["text"])]
    assert entries[0]["files"][0]["path"] == "uploads/report.txt"
    assert [one["room"] for one in (await doors.ask("ci", "GET", "/api/v1/rooms")).body["data"]] == [told["room"]]
    assert (await doors.ask("ci", "GET", "/api/v1/rooms/builds/files/uploads/report.txt")).body == "all green"
    assert (await doors.ask("other", "GET", "/api/v1/rooms/builds/files/uploads/report.txt")).status == 404
    theirs = told["room"].replace("/", "%2F")
    assert (await doors.ask("other", "GET", f"/api/v1/rooms/{theirs}/messages")).status == 403


async def test_events_of_a_run_go_on_behind_the_last_number(doors: Doors) -> None:
    await doors.make("ci")
    await doors.make("other")
    said = await doors.say("ci", "builds", "Hello there")
    run = (await doors.answered("ci", said.body["id"]))["run"]
    whole = (await doors.ask("ci", "GET", f"/api/v1/runs/{run}/stream")).body
    numbers = [int(line.removeprefix("id: ")) for line in whole.splitlines() if line.startswith("id: ")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "event: run.done" in whole
    rest = (await doors.ask("ci", "GET", f"/api/v1/runs/{run}/stream", Last_Event_ID="2")).body
    assert whole.endswith(rest)
    assert rest.startswith("id: 3\n")
    headers = {"Authorization": f"Bearer {doors.tokens['ci']}", "Last-Event-ID": "2"}
    async with doors.house.session.ws_connect(f"{doors.house.url}/api/v1/runs/{run}/stream", headers=headers) as socket:
        assert [one.json()["number"] async for one in socket] == numbers[2:]
    assert (await doors.ask("other", "GET", f"/api/v1/runs/{run}/stream")).status == 404


async def test_an_open_stream_ends_with_the_token(doors: Doors) -> None:
    await doors.make("ci")
    said = (await doors.say("ci", "builds", "run: uname -a")).body["id"]
    run = (await doors.answered("ci", said))["run"]
    headers = {"Authorization": f"Bearer {doors.tokens['ci']}"}
    async with doors.house.session.get(f"{doors.house.url}/api/v1/runs/{run}/stream", headers=headers) as stream:
        await doors.house.api.revoke_token("ci")
        with pytest.raises(aiohttp.ClientError):
            await stream.read()


async def test_two_messages_that_begin_a_room_at_once_are_both_taken(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    await doors.make("ci")
    untouched = HistoryStore.is_untouched
    said = []

    async def another_first(history: HistoryStore, address: Address) -> bool:
        monkeypatch.setattr(HistoryStore, "is_untouched", untouched)
        said.append(await doors.say("ci", "builds", "The other one", "key-1"))
        return await untouched(history, address)

    monkeypatch.setattr(HistoryStore, "is_untouched", another_first)
    said.append(await doors.say("ci", "builds", "Hello there", "key-2"))
    assert [one.status for one in said] == [202, 202]
