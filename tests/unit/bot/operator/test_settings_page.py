"""Settings over the operators' API of a whole process: who sees them, who changes them, and what becomes of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.auth.confirming import Confirmations
from bot.secrets.file import SealedFile
from bot.secrets.keys import Keyring, Passphrase
from bot.secrets.sealed import Lock
from bot.settings.settings import load
from runtime.policy.budgets import Scope
from tests.security.running import Answer, Running, running
from tests.unit.guard.secrets import SECRETS

TEXT = """\
# ours
database_url = "sqlite:///:memory:"

[web]
port = 0
token = "a-long-token-of-the-owner"

[operators]
room = "web:main/alarms"

[budgets]
day = 5 # enough

[[policy]]
tool = "shell"
result = "deny"

[[hooks]]
name = "deploys"
to = "web:main/deploys"
secret = "sesame-open-sesame"
"""
DAY = {"values": {"day": "7"}}


async def called(house: Running, who: str, path: str, body: object = None) -> tuple[int, Any]:
    answer: Answer = await house.ask("GET" if body is None else "POST", f"/console/api{path}", who, body)
    return answer.status, json.loads(answer.text)


async def confirm(house: Running, who: str = "owner") -> None:
    status, told = await called(house, who, "/confirmation", {"link": f"{house.url}/link/{house.tokens[who]}"})
    assert status == 200, told


def file_of(folder: Path) -> Path:
    return next(folder.glob("*.toml"))


async def save(house: Running, name: str, form: dict[str, Any], who: str = "owner") -> tuple[int, Any]:
    status, tried = await called(house, who, f"/settings/{name}/try", form)
    assert status == 200, tried
    return await called(house, who, f"/settings/{name}", {"digest": tried["digest"], **form})


async def test_every_setting_is_shown_with_its_source_and_no_secret(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        status, told = await called(house, "operator", "/settings")
        rows = {row["name"]: row for row in told["rows"]}
        text = json.dumps(told)
    assert status == 200
    assert "sesame" not in text
    assert "a-long-token" not in text
    assert (rows["web.token"]["value"], rows["hooks[1].secret"]["value"], rows["metrics.token"]["value"]) == (
        "set",
        "set",
        "not set",
    )
    assert rows["budgets.day"]["from"].endswith(", line 12")
    assert (rows["budgets.month"]["from"], rows["policy[1].quorum"]["from"]) == ("default", "default")
    assert rows["policy[1].tool"]["line"] == 15
    assert rows["budgets.day"]["editable"]
    assert "listen" in rows["web.port"]["why"] or "reached" in rows["web.port"]["why"]
    assert rows["rooms"]["kind"] == "list of tables"
    assert len(rows) > 230


async def test_who_may_not_edit_sees_no_secret_in_the_text_of_the_file(tmp_path: Path) -> None:
    """Somebody pasted a token into an instruction: owners see it as it stands, to mend it."""
    secret = SECRETS["github"][1]
    text = TEXT + f'\n[[rooms]]\naddress = "web:main/x"\nprompt = "Use {secret} there."\n'
    async with running(tmp_path, text) as house:
        _, operators = await called(house, "operator", "/settings/rooms[1]")
        page = await house.ask("GET", "/console/settings/rooms[1]", "operator")
        _, owners = await called(house, "owner", "/settings/rooms[1]")
    assert secret not in json.dumps(operators) + page.text
    assert secret in json.dumps(owners)


async def test_a_search_finds_names_values_and_words(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        _, told = await called(house, "operator", "/settings?search=SPEND%20day")
        _, none = await called(house, "operator", "/settings?search=sesame")
    assert "budgets.day" in [row["name"] for row in told["rows"]]
    assert none["rows"] == []


async def test_only_an_owner_who_has_confirmed_changes_settings(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        for who in ("viewer", "user", "operator"):
            for path, body in (
                ("/settings/budgets", DAY),
                ("/settings/budgets/try", DAY),
                ("/confirmation", {"link": "x"}),
            ):
                assert (await called(house, who, path, body))[0] == 403, (who, path)
        status, told = await save(house, "budgets", DAY)
        assert (status, "open your link" in told["error"]) == (403, True)
        assert (await called(house, "owner", "/confirmation", {"link": house.tokens["operator"]}))[0] == 403
        assert (await called(house, "owner", "/confirmation", {"link": ""}))[0] == 403
        assert "day = 5" in file_of(tmp_path).read_text()
        await confirm(house)
        assert (await save(house, "budgets", DAY))[0] == 200
    assert "day = 7 # enough" in file_of(tmp_path).read_text()


async def test_a_confirmation_is_of_one_browser_and_ten_minutes() -> None:
    now = 0.0
    kept = Confirmations(lambda: now)
    kept.confirm("this")
    now = 599.0
    assert kept.left("this")
    assert not kept.left("other")
    now = 600.0
    assert not kept.left("this")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/people/{owner}/link", {}),
        ("/people/{user}/role", {"role": "owner"}),
        ("/people", {"name": "Eve", "role": "owner"}),
        ("/people/{user}/merge", {"into": "{owner}"}),
        ("/pairings", {"code": "ABCD-EFGH", "role": "owner"}),
        ("/pairings/telegram:7/accept", {"role": "owner"}),
    ],
)
async def test_a_browser_that_is_left_open_makes_itself_no_confirmed_one(
    path: str, body: dict[str, str], tmp_path: Path
) -> None:
    """A new link of its own person, or of a new owner, would confirm it."""
    async with running(tmp_path, TEXT) as house:
        names = {known.person.role.word: known.person.name for known in await house.app.store.people.people()}
        given = {key: value.format(**names) for key, value in body.items()}
        status, told = await called(house, "owner", path.format(**names), given)
        assert (status, "show once more that it's you" in told["error"]) == (403, True)
        await confirm(house)
        assert (await called(house, "owner", path.format(**names), given))[0] != 403


async def test_an_opened_link_confirms_the_browser(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        opened = await house.ask("GET", f"/link/{house.tokens['owner']}", "owner", Sec_Fetch_Site="none")
        assert opened.status == 303
        assert (await save(house, "budgets", DAY))[0] == 403, "another browser, which it doesn't confirm"
        ((name, session),) = opened.cookies.items()
        house.ways["owner"] = {"Cookie": f"{name}={session}"}
        assert (await save(house, "budgets", DAY))[0] == 200


async def test_an_edit_is_shown_as_a_diff_first_and_writes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        _, told = await called(
            house, "owner", "/settings/budgets/try", {"values": {"day": "7", "month": "much", "over": "?"}}
        )
        assert {fault["name"] for fault in told["faults"]} == {"budgets.month", "budgets.over"}
        _, told = await called(house, "owner", "/settings/budgets/try", {"values": {"day": "-7", "over": "?"}})
        assert {fault["name"] for fault in told["faults"]} == {"budgets.day", "budgets.over"}
        _, told = await called(house, "owner", "/settings/budgets/try", DAY)
    assert told["faults"] == []
    assert "-day = 5 # enough\n+day = 7 # enough" in told["diff"]
    assert file_of(tmp_path).read_text() == TEXT


async def test_a_change_is_in_the_audit_and_operators_are_told(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        status, told = await save(house, "budgets", DAY)
        rows = await house.api.audit("settings changed")
        shown = await house.api.deliveries()
    assert (status, told["changed"], told["restart"]) == (200, ["budgets.day"], [])
    assert (rows[0]["who"], rows[0]["about"], rows[0]["detail"]) == ("owner", "budgets.day", "budgets.day: 5 to 7")
    assert any("owner changed the settings" in row["text"] for row in shown)


async def test_a_budget_and_the_operators_room_hold_once_they_are_saved(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        assert (await save(house, "budgets", {"values": {"agent_calls_hour": "1"}}))[0] == 200
        room = {"values": {"room": "web:main/others"}, "accept": "yes"}
        status, told = await save(house, "operators", room)
        assert (status, told["changed"], told["restart"]) == (200, ["operators.room"], [])
        shown = await house.api.deliveries()
        assert any(row["room"].endswith("others") and "operators.room" in row["text"] for row in shown), shown
        rules = house.app.store.budgets.rules
        assert rules.limits[Scope.AGENT_CALLS_HOUR] == 1


async def test_a_file_that_changed_meanwhile_is_left_and_the_newer_change_is_shown(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        _, tried = await called(house, "owner", "/settings/budgets/try", DAY)
        file_of(tmp_path).write_text(TEXT.replace("day = 5", "day = 6"))
        status, told = await called(house, "owner", "/settings/budgets", {"digest": tried["digest"], **DAY})
        assert (status, "changed since you opened this" in told["error"]) == (409, True)
        assert "day = 6" in file_of(tmp_path).read_text()
        _, newer = await called(house, "owner", "/settings/budgets/try", DAY)
        assert "-day = 6 # enough\n+day = 7 # enough" in newer["diff"]
        assert (await called(house, "owner", "/settings/budgets", {"digest": newer["digest"], **DAY}))[0] == 200


async def test_two_editors_of_one_section_keep_what_the_other_saved(tmp_path: Path) -> None:
    """Each sends what it changed; who opened the form before the other saved is warned beside the change."""
    opened = {"day": "5", "month": "", "person_day": ""}
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        _, form = await called(house, "owner", "/settings/budgets")
        other = {"values": {"month": "50", "day": "6"}, "opened": opened, "digest": form["digest"]}
        _, tried = await called(house, "owner", "/settings/budgets/try", other)
        assert tried["meanwhile"] == {"words": [], "now": {}}
        assert (await called(house, "owner", "/settings/budgets", other))[0] == 200
        stale = {"values": {"person_day": "3", "day": "9"}, "opened": opened, "digest": form["digest"]}
        _, tried = await called(house, "owner", "/settings/budgets/try", stale)
        assert tried["meanwhile"]["now"] == {"day": "6", "month": "50"}
        warned = " ".join(tried["meanwhile"]["words"])
        assert "changed since you opened the form" in warned
        assert "budgets.day has another value now (6)" in warned
        assert "-month" not in tried["diff"]
        assert (await called(house, "owner", "/settings/budgets", stale))[0] == 409
        assert (await called(house, "owner", "/settings/budgets", {**stale, "digest": tried["digest"]}))[0] == 200
    text = file_of(tmp_path).read_text()
    assert ("day = 9" in text, "month = 50" in text, "person_day = 3" in text) == (True, True, True)


async def test_a_number_that_means_another_rule_now_is_refused(tmp_path: Path) -> None:
    rules = TEXT + '\n[[policy]]\ntool = "read_file"\nresult = "ask"\n'
    async with running(tmp_path, rules) as house:
        await confirm(house)
        _, told = await called(house, "owner", "/settings/policy")
        first, second = (row["mark"] for row in told["tables"])
        asked = {"values": {"reason": "Ours."}, "mark": first, "accept": "yes"}
        status, told = await save(house, "policy[1]", asked)
        assert status == 200, told
        status, told = await save(house, "policy[1]", {"values": {"effect": "danger"}, "mark": first, "accept": "yes"})
        assert status == 200, f"changed in its place, so only the other field is new: {told}"
        for body in ({"verb": "up", "mark": first}, {"verb": "remove", "mark": first}):
            status, told = await called(house, "owner", "/settings/policy[1]/try", body)
            assert (status, "somebody changed the list" in told["error"]) == (409, True)
        assert (await save(house, "policy[2]", {"verb": "up", "mark": second, "accept": "yes"}))[0] == 200
        status, told = await called(house, "owner", "/settings/policy[2]", {**asked, "mark": second, "digest": "x"})
        assert (status, "somebody changed the list" in told["error"]) == (409, True)


async def test_a_rule_shows_what_would_happen_and_wants_a_second_yes(tmp_path: Path) -> None:
    form = {"values": {"result": "allow"}}
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        _, told = await called(house, "owner", "/settings/policy[1]/try", form)
        (row,) = told["outcomes"]
        assert (row["tool"], row["before"]["user"], row["after"]["user"]) == ("shell", "deny", "allow")
        assert told["widened"]
        status, refused = await save(house, "policy[1]", form)
        assert (status, "do more than now" in refused["error"]) == (422, True)
        status, saved = await save(house, "policy[1]", {**form, "accept": "yes"})
        assert status == 200, saved
        assert saved["changed"] == ["policy (1 rule)"]
    assert 'result = "allow"' in file_of(tmp_path).read_text()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("mcp", {"verb": "add", "values": {"name": "x", "command": "sh"}}),
        ("web", {"values": {"host": "0.0.0.0"}}),
        ("hooks[1]", {"values": {"secret": "another-secret-value"}}),
        ("hooks[1]", {"verb": "remove"}),
        ("access", {"values": {"blocked": "owner"}}),
        ("nothing", {"values": {"x": "y"}}),
    ],
)
async def test_what_only_the_file_may_change_is_refused_whoever_asks(
    name: str, form: dict[str, Any], tmp_path: Path
) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        for who in ("owner", "holder"):
            status, told = await save(house, name, {**form, "accept": "yes"}, who)
            assert status == 422, told
    assert file_of(tmp_path).read_text() == TEXT


async def test_two_processes_on_one_database_are_told_to_change_their_files(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        from datetime import timedelta

        from runtime.contract import NodeId

        await house.app.store.cluster.join(NodeId("other"), "beta/12", timedelta(minutes=5), alone=False)
        status, told = await save(house, "budgets", DAY)
    assert status == 409
    assert "beta/12" in told["error"]
    assert "signalbox reload" in told["error"]


async def test_the_first_change_makes_the_file_where_a_start_looks_for_it(tmp_path: Path) -> None:
    variables = {"SIGNALBOX_DATABASE_URL": "sqlite:///:memory:", "SIGNALBOX_WEB__PORT": "0"}
    place = tmp_path / "signalbox.toml"
    async with running(tmp_path, settings=load(environ=variables, folder=tmp_path)) as house:
        page = await house.ask("GET", "/console/settings", "owner")
        assert f"Your first change here makes {place}." in page.text
        await confirm(house)
        assert (await save(house, "budgets", DAY))[0] == 200
        assert (await save(house, "budgets", {"values": {"day": "8"}}))[0] == 200
        page = await house.ask("GET", "/console/settings", "owner")
    assert f"read from <code>{place}</code>" in page.text
    assert load(environ=variables, folder=tmp_path).budgets.day == 8


async def test_a_broken_file_is_told_and_left_alone(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        file_of(tmp_path).write_text("day = = 1\n")
        _, told = await called(house, "owner", "/settings")
        assert "not TOML" in told["trouble"]
        assert (await called(house, "owner", "/settings/budgets", DAY))[0] == 409
    assert file_of(tmp_path).read_text() == "day = = 1\n"


async def test_pages_show_all_of_it(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        for path in (
            "",
            "/budgets",
            "/budgets.day",
            "/policy",
            "/policy[1]",
            "/policy?add=1",
            "/data_dir",
            "/rooms",
            "/mcp",
            "/hooks[1]",
        ):
            for who in ("owner", "operator"):
                answer = await house.ask("GET", f"/console/settings{path}", who)
                assert answer.status == 200, path
                assert "sesame" not in answer.text
                assert ('data-edits="set"' in answer.text) == (
                    who == "owner" and path in ("/budgets", "/budgets.day", "/policy[1]")
                )
        assert "the extra <code>push</code>" in (await house.ask("GET", "/console/settings/push", "owner")).text
        assert (await house.ask("GET", "/console/settings/nothing", "owner")).status == 404
        assert (await house.ask("GET", "/console/settings/policy[7]", "owner")).status == 404


KEY = "sk-a-key-that-nobody-else-has-0123456789"


def sealed_in(folder: Path) -> SealedFile:
    """A file of sealed secrets whose passphrase the process is given."""
    file = SealedFile(folder / "own.sealed")
    file.make(Passphrase("correct horse battery staple", "a test"), Lock.KEY_FILE)  # the cheap kind
    (folder / "passphrase").write_text("correct horse battery staple\n")
    return file


SEALED = '\n[secrets]\nfile = "own.sealed"\npassphrase_file = "passphrase"\n[model]\nname = "openai/gpt-4o-mini"\napi_base = "http://127.0.0.1:9/v1"\n'


def entries_of(file: SealedFile) -> dict[str, str]:
    opened = file.open(Keyring(variable="correct horse battery staple"))
    return {name: entry.value for name, entry in opened.entries.items()}


async def test_a_key_of_a_model_is_sealed_and_never_shown(tmp_path: Path) -> None:
    file = sealed_in(tmp_path)
    async with running(tmp_path, TEXT + SEALED) as house:
        assert (await called(house, "owner", "/secrets/OPENAI_API_KEY", {"value": KEY}))[0] == 403
        await confirm(house)
        status, told = await called(house, "owner", "/secrets/OPENAI_API_KEY", {"value": f" {KEY}\n"})
        assert (status, told["state"]) == (200, "sealed")
        page = await house.ask("GET", "/console/settings/model.api_key", "owner")
        audit = await house.api.audit("secret set")
    assert entries_of(file) == {"OPENAI_API_KEY": KEY}
    assert KEY not in page.text + json.dumps(audit) + json.dumps(told)
    assert audit[0]["about"] == "OPENAI_API_KEY"


@pytest.mark.parametrize("name", ["WEB_TOKEN", "PATH", "SIGNALBOX_WEB__TOKEN", "ANTHROPIC_API_KEY", "x" * 300])
async def test_no_other_secret_is_sealed_from_here(name: str, tmp_path: Path) -> None:
    file = sealed_in(tmp_path)
    async with running(tmp_path, TEXT + SEALED) as house:
        await confirm(house)
        assert (await called(house, "owner", f"/secrets/{name}", {"value": KEY}))[0] == 422
        for value in ("", "two words", "a-long-token-of-the-owner", "naïve-key-0123456789", 5):
            assert (await called(house, "owner", "/secrets/OPENAI_API_KEY", {"value": value}))[0] == 422
    assert entries_of(file) == {}


async def test_a_key_is_tried_before_any_secret_is_sealed_here(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        await confirm(house)
        status, told = await called(house, "owner", "/model-keys", {"model": "openai/gpt-4o-mini", "key": "two words"})
        assert (status, "seal" in told["error"]) == (422, False)


async def test_a_model_is_tried_and_kept_in_one_step(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        assert (await called(house, "owner", "/model-keys", {"model": "demo"}))[0] == 403
        await confirm(house)
        status, told = await called(house, "owner", "/model-keys", {"model": "demo"})
        assert (status, told["state"]) == (200, "answered")
        for model in ("huggingface/https://evil.example", "acme/x", "", "openai/gpt-4o-mini"):
            status, told = await called(house, "owner", "/model-keys", {"model": model, "key": ""})
            assert (status, bool(told["error"])) == (422, True)
        status, told = await called(
            house, "owner", "/model-keys", {"model": "openai/gpt-4o-mini", "key": KEY, "keep": "yes"}
        )
        assert (status, "signalbox secrets set OPENAI_API_KEY" in told["error"]) == (422, True)
        status, told = await called(house, "owner", "/model-keys", {"model": "demo", "keep": "yes"})
        assert (status, "says that already" in told.get("error", "")) in ((200, False), (422, True))
    assert KEY not in json.dumps(told)


async def test_tokens_of_a_channel_are_checked_before_anything_is_kept(tmp_path: Path) -> None:
    file = sealed_in(tmp_path)
    async with running(tmp_path, TEXT + SEALED) as house:
        _, rows = await called(house, "operator", "/channels")
        assert {row["channel"] for row in rows} == {"telegram", "slack", "discord"}
        assert (await called(house, "owner", "/channels/telegram", {"token": "1"}))[0] == 403
        await confirm(house)
        status, told = await called(house, "owner", "/channels/telegram", {"token": "no-token"})
        assert (status, "expected" in told["error"], "no-token" in told["error"]) == (422, True, False)
        status, told = await called(house, "owner", "/channels/nothing", {"token": "1"})
        assert status == 404
        for path in ("/console/settings-channels", "/console/settings-model"):
            assert (await house.ask("GET", path, "owner")).status == 200
    assert entries_of(file) == {}
    assert "[[accounts]]" not in file_of(tmp_path).read_text()
