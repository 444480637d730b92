"""What a sender is answered, what is stored of it, and what never is."""

from __future__ import annotations

import asyncio
import hmac
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs
from yarl import URL

from adapters.webhook.adapter import LATE, STRANGER
from adapters.webhook.settings import SIGNATURE_HEADER, Proof
from bot.accounts.naming import Called
from runtime.contract import Role
from runtime.domain.routing import Attention, RoomRule, RoomRules
from runtime.http.bodies import BODY_LIMIT
from runtime.store.sql.driver import Op
from runtime.text.outside import unfenced
from tests.wire.hooks.stage import DEPLOYS, JSON, OPEN, ROOM, SECRET, TOKEN, Answer, Stage, served

SIGNED: Final = replace(DEPLOYS, proof=Proof("hmac", SECRET, SIGNATURE_HEADER))
TIMED: Final = replace(DEPLOYS, proof=Proof("hmac", SECRET, "X-Signature", "v1=", "{timestamp}.{body}", "X-Timestamp"))


BODY: Final = b'{"a": 1}'


def signature(content: bytes, secret: str = SECRET) -> str:
    return hmac.digest(secret.encode(), content, "sha256").hex()


def timed(stage: Stage, body: bytes, *, away: timedelta = timedelta(), secret: str = SECRET) -> dict[str, str]:
    stamp = str(int((stage.clock() + away).timestamp()))
    proof = f"v1={signature(stamp.encode() + b'.' + body, secret)}"
    return {"Content-Type": "application/json", "X-Timestamp": stamp, "X-Signature": proof}


async def nothing_is_stored(stage: Stage) -> bool:
    """No file, no signal, not even a tombstone."""

    def read() -> Op[Any]:
        return (yield text("SELECT count(*) FROM signals"), {})

    files = [path for path in stage.workspaces.root.rglob("*") if path.is_file()]
    return not files and [tuple(row) for row in await stage.store.driver.read(read)] == [(0,)]


# ------------------------------------------------------------------------------------------------------------ taken in


async def test_what_is_posted_is_a_message_in_the_room(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        answer = await stage.call('{"service": "shop"}')
        assert answer.status == 202
        [words] = await stage.texts()
        assert words.startswith('The webhook "deploys" was called.\n\nTell the room.\n\nWhat follows is data')
        assert unfenced(words).endswith('```json\n{\n  "service": "shop"\n}\n```')
        [entry] = (await stage.store.history.view(ROOM)).entries
        assert (entry.id, entry.name) == (answer.told["id"], "webhook deploys")
        [known] = await stage.store.people.people()
        assert (known.person.name, known.person.role.word) == ("webhook deploys (hook:deploys)", "user")


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("application/json; charset=utf-8", '{"a": "ü"}', '"a": "ü"'),
        ("application/x-www-form-urlencoded", "a=b&c=d", '"c": "d"'),
        ("text/plain", "disk full\0\n", "disk full\n"),
        ("text/plain; charset=latin-1", "früh".encode("latin-1"), "früh"),
        ("application/json", '{"a": "\\ud800"}', '"a": "\ufffd"'),
    ],
)
async def test_each_kind_of_payload_is_told(tmp_path: Path, kind: str, body: str | bytes, words: str) -> None:
    async with served(tmp_path) as stage:
        assert (await stage.call(body, {**TOKEN, "Content-Type": kind})).status == 202
        assert words in (await stage.texts())[0]


async def test_a_call_without_a_body_and_a_type_counts(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        assert (await stage.call("", TOKEN)).status == 202
        assert (await stage.texts())[0].endswith("It came without a payload.")


async def test_of_a_large_payload_all_is_a_file_in_the_rooms_workspace(tmp_path: Path) -> None:
    body = json.dumps({"lines": ["x" * 90] * 5_000}).encode()
    async with served(tmp_path) as stage:
        assert (await stage.call(body)).status == 202
        [entry] = (await stage.store.history.view(ROOM)).entries
        [file] = entry.files
        with stage.workspaces.open(ROOM, file.path) as kept:
            assert kept.read() == body
        assert (file.name, file.size) == ("deploys.json", len(body))
        assert len(entry.body) < 21_000


async def test_a_signed_request_is_taken_under_any_name_of_ours(tmp_path: Path) -> None:
    async with served(tmp_path, SIGNED) as stage:
        headers = {"Content-Type": "application/json", SIGNATURE_HEADER: f"sha256={signature(BODY)}"}
        more = {"Host": "bot.example.org", "X-GitHub-Delivery": "72d3162e"}
        assert (await stage.call(BODY, {**headers, **more})).status == 202


# ------------------------------------------------------------------------------------------------------------- repeats


async def test_a_delivery_twice_is_one_message_with_one_id(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        first = await stage.call(X_GitHub_Delivery="72d3162e")
        again = await stage.call(X_GitHub_Delivery="72d3162e")
        assert (again.status, again.told) == (200, {"id": first.told["id"], "duplicate": True})
        other = await stage.call('{"a": 2}', X_GitHub_Delivery="72d3162f")
        assert other.status == 202
        assert len(await stage.texts()) == 2


async def test_the_same_delivery_many_times_at_once_is_one_message(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        answers = await asyncio.gather(*(stage.call(Idempotency_Key="once") for _ in range(20)))
        assert sorted(answer.status for answer in answers) == [200] * 19 + [202]
        assert len({answer.told["id"] for answer in answers}) == 1
        assert len(await stage.texts()) == 1


async def test_without_an_id_the_same_body_is_a_repeat_for_a_while(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        assert [(await stage.call()).status for _ in range(2)] == [202, 200]
        stage.clock.advance(timedelta(minutes=11))
        assert (await stage.call()).status == 202


async def test_a_caught_request_is_worth_nothing_under_another_id(tmp_path: Path) -> None:
    async with served(tmp_path, TIMED) as stage:
        caught = timed(stage, BODY)
        assert (await stage.call(BODY, caught, Idempotency_Key="1")).status == 202
        assert (await stage.call(BODY, caught, Idempotency_Key="2")).status == 200
        stage.clock.advance(timedelta(minutes=6))
        late = await stage.call(BODY, caught, Idempotency_Key="3")
        assert (late.status, late.told["error"]) == (401, LATE)
        assert len(await stage.texts()) == 1


async def test_the_id_that_is_agreed_upon_is_demanded(tmp_path: Path) -> None:
    async with served(tmp_path, replace(DEPLOYS, dedupe_header="X-Order")) as stage:
        answer = await stage.call(X_GitHub_Delivery="1")
        assert answer.status == 400
        assert "X-Order" in answer.told["error"]
        assert await nothing_is_stored(stage)


# ----------------------------------------------------------------------------------------------------------- strangers


@pytest.mark.parametrize("hook", [DEPLOYS, SIGNED, TIMED], ids=["token", "signature", "with a time"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Signalbox-Token": SECRET[:-1]},
        {SIGNATURE_HEADER: "sha256=" + signature(b"another body")},
        {SIGNATURE_HEADER: "sha256=" + signature(BODY, "another secret")},
        {"X-Signature": "v1=" + signature(b"1." + BODY), "X-Timestamp": "2"},
        {"X-Signature": "v1=" + signature(BODY)},
    ],
)
async def test_a_wrong_proof_is_refused_and_nothing_stored(tmp_path: Path, hook: Any, headers: dict[str, str]) -> None:
    async with served(tmp_path, hook) as stage:
        with capture_logs() as logs:
            answer = await stage.call(headers={"Content-Type": "application/json", **headers})
        assert (answer.status, answer.told) == (401, {"error": STRANGER})
        assert await nothing_is_stored(stage)
        assert SECRET not in str(logs)


async def test_a_time_that_is_off_is_told_to_who_can_sign_alone(tmp_path: Path) -> None:
    async with served(tmp_path, TIMED) as stage:
        late = await stage.call(b"{}", timed(stage, b"{}", away=timedelta(minutes=-6)))
        assert (late.status, late.told["error"]) == (401, LATE)
        early = await stage.call(b"{}", timed(stage, b"{}", away=timedelta(minutes=6)))
        assert (early.status, early.told["error"]) == (401, LATE)
        forged = await stage.call(b"{}", timed(stage, b"{}", away=timedelta(minutes=-6), secret="another secret"))
        assert (forged.status, forged.told["error"]) == (401, STRANGER)
        assert await nothing_is_stored(stage)


async def test_a_name_that_is_none_is_answered_as_a_wrong_proof(tmp_path: Path) -> None:
    """Nobody learns which hooks there are, whatever else is wrong with what they send."""

    def seen(answer: Answer) -> tuple[int, Any, list[str]]:
        return answer.status, answer.told, sorted(answer.headers)

    async with served(tmp_path) as stage:
        for body, kind in ((b"{", "application/json"), (b"x", "image/png"), (b"x" * (BODY_LIMIT + 1), "text/plain")):
            headers = {"Content-Type": kind, "X-Signalbox-Token": "wrong"}
            there, not_there = await stage.call(body, headers), await stage.call(body, headers, name="nobody")
            assert seen(there) == seen(not_there)
            assert there.status == (413 if len(body) > BODY_LIMIT else 401)
        assert (await stage.call(headers=JSON, name="nobody")).status == 401


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
async def test_a_hook_is_called_by_post(tmp_path: Path, method: str) -> None:
    async with served(tmp_path) as stage, stage.http.request(method, f"{stage.base}/hooks/deploys") as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        (b'{"a": }', "application/json", 400, "line 1, column 7"),
        (b"\xff", "text/plain", 400, "byte 1"),
        (b"x", "image/png", 415, "image/png"),
        (b"x", "", 415, "Send application/json"),
        (b"x", "text/plain; charset=klingon", 415, "klingon"),
        (b"x" * (BODY_LIMIT + 1), "text/plain", 413, "1 MiB"),
    ],
)
async def test_what_cannot_be_read_is_told_and_not_stored(
    tmp_path: Path, body: bytes, kind: str, status: int, words: str
) -> None:
    async with served(tmp_path) as stage:
        answer = await stage.call(body, {**TOKEN, **({"Content-Type": kind} if kind else {})})
        assert answer.status == status
        assert words in answer.told["error"]
        assert await nothing_is_stored(stage)


async def test_a_body_of_a_mebibyte_fits_and_one_in_pieces_is_counted(tmp_path: Path) -> None:
    async def pieces() -> Any:
        for _ in range(BODY_LIMIT // 1024 + 1):
            yield b"x" * 1024

    async with served(tmp_path) as stage:
        headers = {**TOKEN, "Content-Type": "text/plain"}
        assert (await stage.call(b"x" * BODY_LIMIT, headers)).status == 202
        async with stage.http.post(f"{stage.base}/hooks/deploys", data=pieces(), headers=headers) as answer:
            assert answer.status == 413


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with served(tmp_path, read_within=timedelta(seconds=0.05)) as stage:
        host, port = stage.base.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /hooks/deploys HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        assert b" 408 " in await reader.readline()
        writer.close()
        assert await nothing_is_stored(stage)


async def test_a_body_that_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        answer = await stage.call(b"no gzip", JSON, Content_Encoding="gzip")
        assert answer.status == 400
        assert await nothing_is_stored(stage)


async def test_too_many_are_told_when_to_come_again(tmp_path: Path) -> None:
    async with served(tmp_path, replace(DEPLOYS, per_minute=2)) as stage:
        answers = [await stage.call(f'{{"n": {n}}}') for n in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 429]
        assert answers[2].headers["Retry-After"] == "30"
        stage.ticks.at += timedelta(seconds=30)
        assert (await stage.call('{"n": 2}')).status == 202
        for _ in range(5):
            assert (await stage.call(headers={})).status == 401
        stage.ticks.at += timedelta(seconds=30)
        assert (await stage.call('{"n": 3}')).status == 202, "strangers use nothing up"


# ------------------------------------------------------------------------------------------------------------- away


async def test_a_store_that_is_away_asks_for_a_repeat_which_counts_once(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        stage.away = 1
        answer = await stage.call(Idempotency_Key="1")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        assert [(await stage.call(Idempotency_Key="1")).status for _ in range(2)] == [202, 200]
        assert len(await stage.texts()) == 1


async def test_nothing_is_taken_in_before_we_listen(tmp_path: Path) -> None:
    async with served(tmp_path, listening=False) as stage:
        assert (await stage.call()).status == 503
        assert (await stage.call(headers={})).status == 401
        assert await nothing_is_stored(stage)


async def test_nor_while_the_rooms_account_is_not_known(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        stage.account = Called("chat", "main", "")
        assert (await stage.call()).status == 503
        stage.account = Called("chat", "main", "C1")
        assert (await stage.call()).status == 202


# ---------------------------------------------------------------------------------------------------- rooms and people


@pytest.mark.parametrize("attention", [None, *Attention])
async def test_it_speaks_in_any_room_that_is_not_off(tmp_path: Path, attention: Attention | None) -> None:
    async with served(tmp_path) as stage:
        rules = () if attention is None else (RoomRule(attention=attention),)
        stage.gate = replace(OPEN, rooms=replace(OPEN.rooms, rules=rules))
        answer = await stage.call()
        assert answer.status == (403 if attention is Attention.OFF else 202)
        assert len(await stage.texts()) == (attention is not Attention.OFF)


async def test_one_that_is_blocked_or_made_a_viewer_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        assert (await stage.call('{"n": 1}')).status == 202
        stage.gate = replace(OPEN, rooms=replace(OPEN.rooms, blocked=frozenset(["hook:deploys"])))
        assert (await stage.call('{"n": 2}')).status == 403
        stage.gate = OPEN
        assert await stage.store.people.set_role("webhook deploys (hook:deploys)", Role.VIEWER, actor="test")
        assert (await stage.call('{"n": 3}')).status == 403
        assert len(await stage.texts()) == 1


async def test_a_person_whom_nobody_knows_is_not_made_one(tmp_path: Path) -> None:
    async with served(tmp_path, replace(DEPLOYS, person="chat:main/ada")) as stage:
        stage.gate = replace(OPEN, rooms=RoomRules(), pairs=True)
        assert (await stage.call()).status == 403
        assert await stage.store.people.people() == []
        assert (await stage.store.operations.counts()).get("deliveries.queued", 0) == 0, (
            "and the room hears nothing of it"
        )


# ----------------------------------------------------------------------------------------------------------- the guard


async def test_the_page_is_guarded_as_before(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        for path in ("/api/hooks/deploys", "/hooks/../api/hooks/deploys", "/hooks/deploys/more"):
            url = URL(stage.base + path, encoded=True)
            async with stage.http.post(url, data=b"{}", headers={**JSON, "Host": "evil.example"}) as answer:
                assert answer.status == 421, path
        async with stage.http.post(f"{stage.base}/api/hooks/deploys", data=b"a=1") as answer:
            assert answer.status == 403
