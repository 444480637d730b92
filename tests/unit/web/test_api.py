"""What the page, and anyone else with a link, may rely on from the API."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from adapters.web.ideas import IDEAS, idea_json
from runtime.contract import (
    ApprovalId,
    Button,
    Choice,
    Clicked,
    FileRef,
    Kind,
    Outcome,
    RanTool,
    Role,
    Said,
    SignalId,
    Stopped,
    Verdict,
    WorkBehind,
)
from tests.unit.web.stage import IDENTITY, served

ROOM = "room01"
MESSAGES = f"/api/rooms/{ROOM}/messages"
TIMELINE = f"/api/rooms/{ROOM}/timeline"
ID = "0123456789abcdef"


async def test_a_link_opens_the_page_and_stays_in_a_cookie_no_script_can_read(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        token = stage.links.add("Ada", Role.OWNER)
        async with stage.client() as client:
            async with client.get(f"/link/{token}", allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, "/")
                cookie = answer.cookies[stage.adapter.authenticator.cookie]
                assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
                assert stage.links.sessions == {cookie.value: token}, "a session of its own, not the link"
            async with client.get("/") as page:
                assert page.status == 200
                assert "composer" in await page.text()


async def test_a_link_clicked_on_another_site_asks_first(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(**{"Sec-Fetch-Site": "cross-site"}) as client:
        token = stage.links.add("Ada", Role.OWNER)
        async with client.get(f"/link/{token}") as answer:
            assert (answer.status, answer.cookies) == (200, {})
            assert "Become Ada?" in await answer.text()
        ours = {"Sec-Fetch-Site": "same-origin"}
        async with client.post(f"/link/{token}", headers=ours) as answer:
            assert (answer.status, [*stage.links.sessions]) == (
                204,
                [answer.cookies[stage.adapter.authenticator.cookie].value],
            )


async def test_each_browser_is_signed_out_alone_and_one_of_before_gets_a_session(tmp_path: Path) -> None:
    ours = {"Sec-Fetch-Site": "same-origin", "X-Signalbox": "1"}
    async with served(tmp_path) as stage:
        token = stage.links.add("Ada", Role.OWNER)
        async with stage.client() as one, stage.client(token) as before:
            async with one.get(f"/link/{token}"), before.get("/"):
                assert len(stage.links.sessions) == 2, "the one that held the link's token has its own by now"
            async with one.post("/sign-out", headers=ours) as answer:
                assert (answer.status, await answer.json()) == (200, {"next": "/"})
            async with one.get("/api/me") as answer:
                assert answer.status == 401
            async with before.get("/api/me") as answer:
                assert answer.status == 200


@pytest.mark.parametrize("path", ["/link/wrong", "/"])
async def test_without_a_valid_link_the_page_says_what_to_do(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as stage, stage.client() as client, client.get(path) as answer:
        assert answer.status == 401
        assert answer.content_type == "text/html"
        assert "<code>signalbox people link NAME</code>" in await answer.text()


@pytest.mark.parametrize(
    "path", ["/api/me", "/api/inbox", TIMELINE, f"/api/rooms/{ROOM}/events", f"/api/rooms/{ROOM}/files"]
)
async def test_every_door_of_the_api_asks_for_the_cookie(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as stage, stage.client("guessed") as client, client.get(path) as answer:
        assert answer.status == 401
        assert "signalbox people link NAME" in (await answer.json())["error"]


async def test_me_says_who_and_what_they_may_do(tmp_path: Path) -> None:
    async with (
        served(tmp_path, banner="Demo model") as stage,
        stage.client(stage.links.add("Ada", Role.OPERATOR)) as client,
        client.get("/api/me") as answer,
    ):
        assert await answer.json() == {
            "name": "Ada",
            "identity": "web:main/ada",
            "role": "operator",
            "may_write": True,
            "console": True,
            "signs_out": True,
            "banner": "Demo model",
            "notice": "",
            "ideas": [idea_json(one) for one in IDEAS],
            "text_limit": 100_000,
            "upload_limit": 50 * 1024 * 1024,
        }


async def test_the_pages_own_files_are_kept_under_their_version_and_asked_for_under_their_name(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get("/") as answer:
            page = await answer.text()
        named = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
        assert len(named) > 20
        assert len({name.rsplit("/", 1)[0] for name in named}) == 1, "all are of one version"
        for name in named:
            async with client.get(name) as answer:
                assert (answer.status, "immutable" in answer.headers["Cache-Control"]) == (200, True), name
                packed = answer.headers.get("Content-Encoding")
            assert packed == ("gzip" if not name.endswith(".png") else None), name
        for name in ("/static/app.js", "/static/000000000000/app.js"):
            async with client.get(name) as answer:
                assert answer.headers["Cache-Control"] == "no-cache"
                etag = answer.headers["ETag"]
            async with client.get(name, headers={"If-None-Match": etag}) as answer:
                assert answer.status == 304


@pytest.mark.parametrize("query", ["limit=0", "limit=9999999", "limit=x", "after=now", "around=nobody"])
async def test_a_page_of_a_room_that_cannot_be_is_refused(tmp_path: Path, query: str) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.OPERATOR)) as client,
        client.get(f"/api/rooms/room01/timeline?{query}") as answer,
    ):
        assert answer.status == (404 if "around" in query else 400)
        assert (await answer.json())["error"].endswith((".", "+00:00"))


async def test_a_message_is_a_signal_and_acknowledged_after_the_sink(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.post(MESSAGES, json={"id": ID, "text": "list the files"}) as answer:
            assert answer.status == 202
            assert (await answer.json())["outcome"] == "accepted"
        (signal,) = stage.sink.taken.values()
        assert signal.body == Said("list the files")
        assert (signal.platform, signal.actor, signal.actor_name) == (IDENTITY, "web:main/ada", "Ada")
        assert str(signal.address) == f"web:{IDENTITY}/{ROOM}"


async def test_the_same_id_is_the_same_message_and_nobody_elses(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        for name, outcome in [("Ada", "accepted"), ("Ada", "duplicate"), ("Otto", "accepted")]:
            async with (
                stage.client(stage.links.add(name, Role.OWNER)) as client,
                client.post(MESSAGES, json={"id": ID, "text": "hi"}) as answer,
            ):
                assert (await answer.json())["outcome"] == outcome


async def test_a_store_that_is_away_is_told_and_the_next_try_is_taken_in_once(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.sink.away = 1
        async with client.post(MESSAGES, json={"id": ID, "text": "hi"}) as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
            assert "Try again" in (await answer.json())["error"]
        for outcome in ("accepted", "duplicate"):
            async with client.post(MESSAGES, json={"id": ID, "text": "hi"}) as answer:
                assert (await answer.json())["outcome"] == outcome
        assert len(stage.sink.taken) == 1


async def test_before_listening_nothing_is_taken_in(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        assert stage.adapter.standing().trouble is None
        stage.adapter._sink = None
        assert stage.adapter.standing().trouble is not None
        async with client.post(MESSAGES, json={"id": ID, "text": "hi"}) as answer:
            assert answer.status == 503


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (b'{"id": "0123456789", "text": "' + b"x" * 5_000_000 + b'"}', 413, "file"),
        (json.dumps({"id": ID, "text": "x" * 100_001}).encode(), 413, "100,000 characters"),
        (b'{"id": "0123456789", "text": "\xff\xfe"}', 400, "UTF-8"),
        (b"{", 400, "JSON"),
        (b"[" * 200_000, 400, "JSON"),
        (b"[1]", 400, "object"),
        (b'{"id": "0123456789", "text": "\\ud800"}', 400, "Unicode"),
        (b'{"id": "0123456789", "text": 7}', 400, "text"),
        (b'{"id": "0123456789", "text": "  "}', 400, "empty"),
        (b'{"id": "short", "text": "hi"}', 400, "`id`"),
        (b'{"text": "hi"}', 400, "`id`"),
        (b'{"id": "0123456789", "text": "hi", "files": ["../x"]}', 400, "uploaded file"),
        (b'{"id": "0123456789", "text": "hi", "files": "x"}', 400, "`files`"),
    ],
)
async def test_bad_input_is_answered_in_words_and_never_taken_in(
    tmp_path: Path, raw: bytes, status: int, words: str
) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        headers = {"Content-Type": "application/json"}
        async with client.post(MESSAGES, data=BytesIO(raw), headers=headers) as answer:
            assert answer.status == status
            assert words in (await answer.json())["error"]
        assert stage.sink.taken == {}


async def test_a_message_without_a_length_is_bounded_too(tmp_path: Path) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        headers = {"Content-Type": "application/json"}
        async with client.post(MESSAGES, data=endless(), headers=headers) as answer:
            assert answer.status == 413


async def test_text_keeps_every_character_but_nul(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.post(MESSAGES, json={"id": ID, "text": " 漢字 👩‍🚀\n\x00 "}) as answer:
            assert answer.status == 202
        assert stage.sink.bodies == [Said(" 漢字 👩‍🚀\n\ufffd ")]


async def test_a_refused_message_says_why(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.sink.answer = Verdict(Outcome.REFUSED, SignalId(""), "This room is off.")
        async with client.post(MESSAGES, json={"id": ID, "text": "hi"}) as answer:
            told = await answer.json()
            assert (told["outcome"], told["notice"]) == ("refused", "This room is off.")


async def test_a_message_names_its_files_with_the_size_they_have_here(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        folder = stage.workspaces.folder(stage.address(ROOM))
        (folder / "uploads").mkdir()
        (folder / "uploads" / "a.txt").write_text("12345")
        async with client.post(MESSAGES, json={"id": ID, "text": "", "files": ["uploads/a.txt"]}) as answer:
            assert answer.status == 202
        assert stage.sink.bodies == [Said("", (FileRef("a.txt", "uploads/a.txt", 5),))]


async def test_a_click_carries_id_choice_reason_and_the_room_of_its_card(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        body = {"id": ID, "room": ROOM, "choice": "deny", "reason": " not now "}
        async with client.post("/api/approvals/ap1", json=body) as answer:
            assert answer.status == 200
        (signal,) = stage.sink.taken.values()
        assert signal.body == Clicked(ApprovalId("ap1"), Choice.DENY, "not now")
        assert signal.address == stage.address(ROOM)


@pytest.mark.parametrize(
    ("approval", "change", "status"),
    [("ap1", {"choice": "maybe"}, 400), ("ap1", {"choice": ["deny"]}, 400), ("ap1", {"room": "x"}, 404), ("ap1", {"id": None}, 400),
     ("a" * 65, {}, 404), ("ap1", {"reason": "x" * 1001}, 413)],
)  # fmt: skip
async def test_a_malformed_click_changes_nothing(
    tmp_path: Path, approval: str, change: dict[str, object], status: int
) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        body = {"id": ID, "room": ROOM, "choice": "approve", **change}
        async with client.post(f"/api/approvals/{approval}", json=body) as answer:
            assert answer.status == status
            assert (await answer.json())["error"]
        assert stage.sink.taken == {}


async def test_the_private_notice_of_a_click_comes_back(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.sink.answer = Verdict(Outcome.UNCHANGED, SignalId(""), "This was decided before.")
        body = {"id": ID, "room": ROOM, "choice": "approve"}
        async with client.post("/api/approvals/ap1", json=body) as answer:
            told = await answer.json()
            assert (told["outcome"], told["notice"]) == ("unchanged", "This was decided before.")


async def test_a_message_names_the_one_that_it_replaces(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        for replaces, status in (("0354MGtUUT6rH7nI9HDpAi", 202), (None, 202), ("not one", 400), (4, 400)):
            body = {"id": f"replaces-{status}-{replaces is None}", "text": "hi", "replaces": replaces}
            async with client.post(MESSAGES, json=body) as answer:
                assert answer.status == status, await answer.text()
    assert stage.sink.bodies == [Said("hi", (), SignalId("0354MGtUUT6rH7nI9HDpAi")), Said("hi")]


async def test_stop_is_a_signal(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.post(f"/api/rooms/{ROOM}/stop", json={"id": ID}) as answer:
            assert answer.status == 200
        assert stage.sink.bodies == [Stopped()]


async def test_a_conversation_is_deleted_by_a_signal(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.post(f"/api/rooms/{ROOM}/delete", json={"id": ID}) as answer:
            assert answer.status == 200, await answer.text()
        assert stage.sink.bodies == [Stopped(deletes=True)]


async def test_a_room_is_its_first_speakers_and_operators_may_look(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        async with stage.client(stage.links.add("Ada", Role.USER)) as ada:
            await ada.post(MESSAGES, json={"id": ID, "text": "mine"})
        paths = ["timeline", "events", "files", "files/x"]
        async with stage.client(stage.links.add("Otto", Role.USER)) as otto:
            for path in paths:
                async with otto.get(f"/api/rooms/{ROOM}/{path}") as answer:
                    assert answer.status == 404
            for path, body in [
                (MESSAGES, {"id": "otto-otto", "text": "hi"}),
                (f"/api/rooms/{ROOM}/stop", {"id": "otto-otto"}),
            ]:
                async with otto.post(path, json=body) as answer:
                    assert answer.status == 404
        async with stage.client(stage.links.add("Olga", Role.OPERATOR)) as olga, olga.get(TIMELINE) as answer:
            assert answer.status == 200
        assert len(stage.sink.taken) == 1


async def test_a_viewer_reads_but_never_writes(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.VIEWER)) as client:
        async with client.get(TIMELINE) as answer:
            assert answer.status == 200
        for path, body in [(MESSAGES, {"id": ID, "text": "hi"}), (f"/api/rooms/{ROOM}/stop", {"id": ID}),
                           (f"/api/rooms/{ROOM}/files", {})]:  # fmt: skip
            async with client.post(path, json=body) as answer:
                assert answer.status == 403
                assert "viewer" in (await answer.json())["error"]
        assert stage.sink.taken == {}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.USER])
async def test_a_strangers_click_is_judged_and_audited_where_every_click_is(tmp_path: Path, role: Role) -> None:
    async with served(tmp_path) as stage:
        async with stage.client(stage.links.add("Ada", Role.OWNER)) as ada:
            await ada.post(MESSAGES, json={"id": ID, "text": "mine"})
        async with stage.client(stage.links.add("Otto", role)) as otto:
            click = {"id": "otto-otto", "room": ROOM, "choice": "approve"}
            async with otto.post("/api/approvals/ap1", json=click) as answer:
                assert answer.status == 200
        assert list(stage.sink.taken.values())[-1].actor_name == "Otto"


async def test_an_answer_tells_what_ran_behind_it_and_its_texts_to_who_unfolds_it(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        await client.post(MESSAGES, json={"id": ID, "text": "list"})
        shown, here = stage.show(ROOM, "one file"), stage.address(ROOM)
        made = stage.history.entries[here]
        made[-1] = replace(made[-1], behind=WorkBehind((RanTool("list_\u202efiles", 1.5),), ("",)))
        call = RanTool("list_files", 1.5, '{"path": "\u202e."}', "<b>a.txt</b>")
        stage.history.behind[here, shown] = WorkBehind((call,), ("First the files.",))
        async with client.get(TIMELINE) as answer:
            said, told = (await answer.json())["entries"]
        assert "ran" not in said
        assert (told["ran"], told["thought"]) == ([{"tool": "list_⟨U+202E⟩files", "seconds": 1.5}], True)
        async with client.get(f"/api/rooms/{ROOM}/work/{shown}") as answer:
            assert await answer.json() == {
                "ran": [
                    {
                        "tool": "list_files",
                        "seconds": 1.5,
                        "arguments": '{"path": "⟨U+202E⟩."}',
                        "result": "<b>a.txt</b>",
                    }
                ],
                "thoughts": ["First the files."],
            }


@pytest.mark.parametrize("room", ["short", "UPPER1", "room-01", "a" * 33, "%2e%2e%2fxx"])
async def test_a_room_has_a_plain_name(tmp_path: Path, room: str) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.get(f"/api/rooms/{room}/timeline") as answer,
    ):
        assert answer.status == 404


async def test_the_timeline_shows_words_cards_and_whether_work_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        await client.post(MESSAGES, json={"id": ID, "text": "**mine**"})
        stage.show(ROOM, "**shell**", (Button(ApprovalId("ap1"), Choice.APPROVE, "Approve"),), Kind.APPROVAL)
        stage.history.busy_rooms.add(stage.address(ROOM))
        async with client.get(TIMELINE) as answer:
            told = await answer.json()
        said, card = told["entries"]
        assert told["busy"] is True
        assert (said["author"], said["name"], said["text"]) == ("person", "Ada", "**mine**")
        assert (card["kind"], card["html"], card["markdown"]) == (
            "approval",
            "<p><strong>shell</strong></p>",
            "**shell**",
        )
        assert card["buttons"] == [{"approval_id": "ap1", "choice": "approve", "label": "Approve"}]


async def test_what_people_write_is_never_html_even_if_it_looks_like_ours(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        forged = json.dumps({"markdown": "", "html": "<img src=x>", "buttons": []})
        await client.post(MESSAGES, json={"id": ID, "text": forged})
        async with client.get(TIMELINE) as answer:
            (entry,) = (await answer.json())["entries"]
        assert entry["text"] == forged
        assert "html" not in entry


async def test_what_the_page_has_already_comes_in_brief_unless_it_was_edited(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.show(ROOM, "one")
        card = stage.show(ROOM, "two")
        stage.show(ROOM, "three")
        async with client.get(TIMELINE) as answer:
            newest = (await answer.json())["entries"][-1]["at"]
        stage.change(ROOM, card, "two, decided")
        stage.show(ROOM, "four")
        async with client.get(TIMELINE, params={"since": newest}) as answer:
            entries = (await answer.json())["entries"]
        assert [entry.get("markdown") for entry in entries] == [None, "two, decided", "three", "four"]
        assert entries[0] == {"id": "d1", "version": 0, "answered": True}


async def test_earlier_entries_are_read_from_a_time_on(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        for word in ("one", "two", "three"):
            stage.show(ROOM, word)
        async with client.get(TIMELINE) as answer:
            second = (await answer.json())["entries"][1]["at"]
        async with client.get(TIMELINE, params={"before": second}) as answer:
            entries = (await answer.json())["entries"]
        assert [entry["markdown"] for entry in entries] == ["one", "two"]


@pytest.mark.parametrize("when", ["yesterday", "2026-01-31T12:00:00"])
async def test_a_time_that_is_none_is_explained(tmp_path: Path, when: str) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.USER)) as client,
        client.get(TIMELINE, params={"before": when}) as answer,
    ):
        assert answer.status == 400
        assert "2026-01-31T12:00:00+00:00" in (await answer.json())["error"]
