"""The command line: wrong use in the test's own process, the rest as real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.node.lock import control_of, holder
from bot.node.login import command_line
from tests.fakes import forked
from tests.fakes.ending import Ending
from tests.fakes.fresh import SERVING, AllFresh
from tests.fakes.ports import free_port
from tests.sample import sample

pytestmark = pytest.mark.xdist_group("cli")  # one process of the program for all of them

ROOT = Path(__file__).parents[4]
WRONG_USE, WAITS, TIMED_OUT = 2, 3, 4
LEAVES_SOON = {"SIGNALBOX_NODES__SHUTDOWN_SECONDS": "1.5"}
LIBRARIES = ("aiohttp.web", "click", "pydantic", "sqlalchemy", "typer")


def environment(folder: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    own = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "SIGNALBOX_WEB__PORT": "0", "COLUMNS": "200"}
    return {**kept, **own, **variables}


def start(folder: Path, *arguments: str, **variables: str) -> Ending:
    command, given = [sys.executable, "-m", "bot", *arguments], environment(folder, **variables)
    pipe = subprocess.PIPE
    return Ending(command, cwd=folder, env=given, text=True, stdin=pipe, stdout=pipe, stderr=pipe)


def signalbox(folder: Path, *arguments: str, said: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    given = environment(folder, **variables)
    ended = forked.run("bot", *arguments, folder=folder, environment=given, said=said.encode(), seconds=30)
    out, err = ended.stdout.decode(), ended.stderr.decode()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(arguments, ended.returncode, out, err)


@contextmanager
def running(folder: Path, *arguments: str, **variables: str) -> Iterator[forked.Begun]:
    """`signalbox run`, forked and ready. It writes its log into `log`."""
    given = environment(folder, **variables)
    with (folder / "log").open("ab") as log:
        process = forked.begin("bot", "run", *arguments, folder=folder, environment=given, stderr=log.fileno())
    try:
        assert "ready at" in process.stdout.readline(), (folder / "log").read_text()
        while control_of(folder / "var") is None:
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a process running in it."""
    folder = tmp_path_factory.mktemp("house")
    with running(folder):
        yield folder


# --------------------------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run", "--port", "eighty"],
        ["ask"],
        ["ask", "hi", "--timeout", "-1"],
        ["approvals", "approve"],
        ["outbox", "lst"],
        ["trace", "0123", "--last"],
        ["trace", "0123", "--room", "web:main/r1"],
        ["people", "role", "ada"],
        ["config", "show", "--yaml"],
    ],
)
def test_wrong_use_exits_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(cli, arguments).exit_code == WRONG_USE


@pytest.mark.parametrize("arguments", [["people", "list"], ["run"], ["config", "show"], ["ask", "hi"]])
def test_a_wrong_setting_exits_2_with_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "bad.toml").write_text("[web]\nprot = 1\n")
    for place in (["--config", "bad.toml", *arguments], [*arguments, "--config", "bad.toml"]):
        ended = signalbox(tmp_path, *place)
        assert ended.returncode == WRONG_USE
        assert "did you mean web.port?" in ended.stderr


def test_help_names_every_command() -> None:
    told = CliRunner().invoke(cli, ["--help"]).output
    for command in (
        "run",
        "chat",
        "ask",
        "approvals",
        "outbox",
        "people",
        "trace",
        "config",
        "doctor",
        "audit",
        "version",
    ):
        assert re.search(rf"\b{command}\b", told)


# ----------------------------------------------------------------------------------------------------- start and stop


def test_the_first_start_prints_a_link_that_works_and_later_ones_do_not(tmp_path: Path) -> None:
    with start(tmp_path, "run") as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(4)]
        assert re.search(r"within 15 minutes; it works once: http://127\.0\.0\.1:\d+/link/\S{20,}", told[1])
        assert told[2].endswith(": signalbox people link owner\n")
        assert "demo model" in told[3]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert holder(tmp_path / "var") is None
    with running(tmp_path) as again:
        assert "within 15 minutes" in again.stdout.readline(), "nobody opened the first one"


@pytest.mark.parametrize(
    "arguments",
    sample(
        [
            ["doctor"],
            ["people", "list"],
            ["init", "--yes", "--data-dir", "other", "--config", "other.toml"],
            ["approvals", "list"],
            ["audit", "verify"],
            ["outbox", "list"],
            ["secrets", "list"],
            ["trace"],
            ["version"],
            ["config", "show"],
        ],
        5,
    ),
)
@pytest.mark.timeout(180)  # seconds; about three where nothing else runs
def test_each_family_of_commands_loads_by_itself_what_it_needs(
    house: Path, fresh: AllFresh, arguments: list[str]
) -> None:
    """The other tests here begin where everything is loaded. Here libraries are, and nothing of ours."""
    ended = fresh.after(*LIBRARIES).module("bot", *arguments, folder=house, environment=environment(house))
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_leaves_when_it_is_asked_to(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as process:
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(10) == 0
        assert time.monotonic() - began < 10
        assert "Traceback" not in (tmp_path / "log").read_text()
    assert not (tmp_path / "var" / "control.json").exists()


def test_a_second_run_names_the_first(house: Path) -> None:
    ended = signalbox(house, "run")
    assert ended.returncode == WRONG_USE
    assert f"process {holder(house / 'var')}" in ended.stderr


def test_a_port_in_use_names_the_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = signalbox(tmp_path, "run", "--port", str(port))
    assert ended.returncode == WRONG_USE
    assert f"web.port: {port}" in ended.stderr


def test_an_address_of_another_machine_names_the_setting(tmp_path: Path) -> None:
    ended = signalbox(tmp_path, "run", "--host", "192.0.2.1")
    assert ended.returncode == WRONG_USE
    assert "web.host" in ended.stderr


def test_a_database_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "signalbox.db").write_bytes(b"this is no database at all" * 100)
    ended = signalbox(tmp_path, "run")
    assert ended.returncode == 1
    assert ended.stderr.startswith("signalbox: ")


def test_a_database_newer_than_the_program_is_told(tmp_path: Path) -> None:
    assert signalbox(tmp_path, "ask", "hello").returncode == 0
    with sqlite3.connect(tmp_path / "var" / "signalbox.db") as database:
        database.execute("UPDATE alembic_version SET version_num = 'from-the-future'")
    database.close()
    ended = signalbox(tmp_path, "run")
    assert ended.returncode == 1
    assert "newer than this program" in ended.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    ended = signalbox(tmp_path, "run")
    tmp_path.chmod(0o700)
    assert ended.returncode == 1
    assert "data_dir" in ended.stderr


# ------------------------------------------------------------------------------------------------------------- asking


def test_ask_prints_the_answer(house: Path) -> None:
    ended = signalbox(house, "ask", "list the files")
    assert ended.returncode == 0
    assert "Files" in ended.stdout
    assert ended.stderr == ""


def test_ask_reads_standard_input(house: Path) -> None:
    assert "swallow" in signalbox(house, "ask", "-", said="the swallow\n").stdout


def test_an_older_question_of_the_room_is_not_what_ask_waits_for(house: Path) -> None:
    assert signalbox(house, "ask", "run: echo older", "--room", "older1").returncode == WAITS
    ended = signalbox(house, "ask", "list the files", "--room", "older1")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_ask_says_that_it_waits_for_an_approval_and_the_answer_comes_after_it(house: Path) -> None:
    ended = signalbox(house, "ask", "run: echo one", "--room", "waiting1")
    assert ended.returncode == WAITS
    [approval_id] = re.findall(r"approvals approve (\w+)", ended.stderr)
    waiting = cast("list[dict[str, Any]]", json.loads(signalbox(house, "approvals", "list", "--json").stdout))
    assert approval_id in [row["id"] for row in waiting]
    told = signalbox(house, "approvals", "show", approval_id[:-1]).stdout
    assert re.search(rf"^Id +{approval_id}\nState +pending\nEffect +danger$", told, re.MULTILINE)
    assert told.endswith("\n\necho one\n")
    assert signalbox(house, "approvals", "show", "--last").stdout == told
    assert json.loads(signalbox(house, "approvals", "show", approval_id, "--json").stdout)["id"] == approval_id
    assert signalbox(house, "approvals", "list", "--person", "nobody").stdout == "Nothing is waiting for a decision.\n"
    assert signalbox(house, "approvals", "deny", approval_id, "--reason", "not now").returncode == 0
    again = signalbox(house, "approvals", "approve", approval_id)
    assert again.returncode == 1
    assert "already settled" in again.stderr


def test_ask_does_not_print_the_answer_to_what_was_asked_before(house: Path) -> None:
    ended = signalbox(house, "ask", "run: until test -e go; do sleep 0.1; done; echo earlier", "--room", "waiting2")
    [approval_id] = re.findall(r"approvals approve (\w+)", ended.stderr)
    assert signalbox(house, "approvals", "approve", approval_id).returncode == 0
    hasty = signalbox(house, "ask", "the hasty one", "--room", "waiting2", "--timeout", "0.5")
    assert hasty.returncode == TIMED_OUT
    assert "still busy after 0.5 s. Nothing was asked." in hasty.stderr
    for workspace in (house / "var" / "workspaces").iterdir():
        (workspace / "go").touch()
    patient = signalbox(house, "ask", "the swallow", "--room", "waiting2")
    assert "swallow" in patient.stdout
    assert "earlier" not in patient.stdout


def test_ask_gives_up_in_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a model that never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        variables = {"SIGNALBOX_MODEL__NAME": "openai/x", "SIGNALBOX_MODEL__API_BASE": url, **LEAVES_SOON}
        ended = signalbox(tmp_path, "ask", "hello", "--timeout", "1", SIGNALBOX_MODEL__API_KEY="x", **variables)
    assert ended.returncode == TIMED_OUT
    assert "No answer within 1 s" in ended.stderr


def test_a_message_that_is_too_long_is_told(house: Path) -> None:
    ended = signalbox(house, "ask", "-", said="x" * 5_000_000)
    assert ended.returncode == 1
    assert "too long" in ended.stderr


def test_chat_asks_for_approval_between_the_answers(house: Path) -> None:
    ended = signalbox(house, "chat", said="hello\nrun: echo one\nnot today\nbye\n")
    assert ended.returncode == 0
    assert "May I run shell?" in ended.stdout
    assert "denied" in ended.stdout
    assert "not today" in ended.stdout
    assert "bye" in ended.stdout


def test_chat_needs_a_running_process(tmp_path: Path) -> None:
    ended = signalbox(tmp_path, "chat")
    assert ended.returncode == 1
    assert "signalbox run" in ended.stderr


# ----------------------------------------------------------------------------------------------------------- the rest


def test_people_are_managed_with_and_without_a_process(tmp_path: Path) -> None:
    with running(tmp_path):
        assert signalbox(tmp_path, "people", "add", "ada", "--identity", "telegram:7").returncode == 0
        assert "/link/" in signalbox(tmp_path, "people", "link", "ada").stdout
    assert signalbox(tmp_path, "people", "role", "ada", "operator").returncode == 0
    with sqlite3.connect(tmp_path / "var" / "signalbox.db") as database:
        told = database.execute("SELECT kind, actor FROM audit WHERE subject = 'ada' ORDER BY entry").fetchall()
    database.close()
    here = command_line()
    assert told == [("person added", here), ("link made", here), ("role set", here)]
    assert signalbox(tmp_path, "people", "rename", "ada", "Zoë").stdout == "ada is now called Zoë.\n"
    assert "is the only owner" in signalbox(tmp_path, "people", "remove", "owner", "--yes").stderr
    rows = cast("list[dict[str, Any]]", json.loads(signalbox(tmp_path, "people", "list", "--json").stdout))
    assert [(row["name"], row["role"], row["linked"]) for row in rows] == [
        ("Zoë", "operator", True),
        ("owner", "owner", False),  # a start without a terminal gives a link for one use
    ]
    assert signalbox(tmp_path, "people", "add", "Zoë").returncode == 1


def test_pairing_codes_are_entered_with_and_without_a_process(tmp_path: Path) -> None:
    with running(tmp_path):
        assert signalbox(tmp_path, "people", "pending").stdout == "Nobody is waiting to be paired.\n"
        ended = signalbox(tmp_path, "people", "pair", "WRONGONE")
        assert (ended.returncode, "You have 4 more tries." in ended.stderr) == (1, True)
    ended = signalbox(tmp_path, "people", "pair", "WRONGONE", "--name", "Sam", "--role", "user")
    assert (ended.returncode, "You have 3 more tries." in ended.stderr) == (1, True)
    assert json.loads(signalbox(tmp_path, "people", "pending", "--json").stdout) == []


def test_the_outbox_is_listed_and_shown(house: Path) -> None:
    assert signalbox(house, "ask", "good morning").returncode == 0
    rows = cast("list[dict[str, Any]]", json.loads(signalbox(house, "outbox", "list", "--json").stdout))
    shown = signalbox(house, "outbox", "show", rows[0]["id"])
    assert "good morning" in shown.stdout
    refused = signalbox(house, "outbox", "requeue", rows[0]["id"])
    assert refused.returncode == 1
    assert "can't be requeued" in refused.stderr


def test_what_happened_to_a_message_is_told_in_words_and_as_json(house: Path) -> None:
    assert signalbox(house, "ask", "list the files").returncode == 0
    told = signalbox(house, "trace", "--last")
    assert told.returncode == 0, told.stderr
    assert "owner wrote “list the files”" in told.stdout
    assert re.search(r"\+\d\.\d{3} s  list_files finished in", told.stdout)
    assert re.search(r"Answered \S+ s after it was sent\.", told.stdout)
    trace = json.loads(signalbox(house, "trace", "--last", "--json").stdout)["trace"]
    assert (trace["over"], trace["who"], trace["events"][0]["what"]) == (True, "owner", "sent")
    reply = next(event["subject"] for event in trace["events"] if event["what"] == "shown")
    again = json.loads(signalbox(house, "trace", reply, "--json").stdout)["trace"]
    assert again["events"] == trace["events"]


def test_messages_are_listed_to_choose_from(house: Path) -> None:
    assert signalbox(house, "ask", "list the files").returncode == 0
    rows = json.loads(signalbox(house, "trace", "--json").stdout)
    listed = signalbox(house, "trace", "--room", rows[0]["address"])
    assert (listed.returncode, rows[0]["id"] in listed.stdout) == (0, True)
    assert "signalbox trace ID" in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing-like-this"], "the id of a message, run, approval or delivery"),
        (["0"], "at least its first four characters"),
        (["--last", "--room", "web:main/nowhere"], "There is no message in web:main/nowhere yet."),
        (["--room", "nowhere"], "write channel:account/room"),
    ],
)
def test_a_message_that_is_not_there_is_told_in_words(house: Path, arguments: list[str], sentence: str) -> None:
    ended = signalbox(house, "trace", *arguments)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert sentence in ended.stderr


def test_a_message_is_traced_without_a_process(tmp_path: Path) -> None:
    assert signalbox(tmp_path, "ask", "list the files").returncode == 0
    assert "Answered" in signalbox(tmp_path, "trace", "--last").stdout


def test_settings_are_shown_without_their_secrets(tmp_path: Path) -> None:
    ended = signalbox(tmp_path, "config", "show", SIGNALBOX_WEB__TOKEN="sesame-open-the-door")
    assert "sesame" not in ended.stdout
    assert "# SIGNALBOX_WEB__TOKEN" in ended.stdout
    assert json.loads(signalbox(tmp_path, "config", "show", "--json").stdout)["web"]["port"] == 0


def until_sealed(database: Path, number: int) -> None:
    """Until the sealer has linked so many rows."""
    deadline = time.monotonic() + 30
    with closing(sqlite3.connect(database, timeout=10)) as opened:
        while opened.execute("SELECT count(*) FROM audit WHERE number = ?", (number,)).fetchone() == (0,):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_audit_is_verified_and_a_changed_row_is_named(tmp_path: Path) -> None:
    with running(tmp_path):
        assert signalbox(tmp_path, "ask", "hello").returncode == 0
        until_sealed(tmp_path / "var" / "signalbox.db", 2)
        assert signalbox(tmp_path, "audit", "verify").returncode == 0
    with sqlite3.connect(tmp_path / "var" / "signalbox.db") as database:
        database.execute("UPDATE audit SET detail = 'nothing to see' WHERE number = 2")
    database.close()
    ended = signalbox(tmp_path, "audit", "verify")
    assert ended.returncode == 1
    assert "row 2" in ended.stderr


def test_doctor_is_content_here_and_says_what_to_mend_elsewhere(tmp_path: Path) -> None:
    told = signalbox(tmp_path, "doctor", "--json")
    assert told.returncode == 0
    found = cast("list[dict[str, str]]", json.loads(told.stdout)["findings"])
    groups = {finding["id"].partition(".")[0] for finding in found}
    assert groups >= {"settings", "secrets", "data_dir", "process", "store", "clock", "web", "sandbox", "model"}
    assert all(finding["why"] and finding["fix"] for finding in found if finding["level"] != "ok")
    assert not (tmp_path / "var").exists()  # it looks, and makes nothing
    (tmp_path / "var").mkdir(exist_ok=True)
    (tmp_path / "var" / "signalbox.db").write_bytes(b"this is no database at all" * 100)
    ended = signalbox(tmp_path, "doctor")
    assert ended.returncode == 1
    assert re.search(r"ERROR +store +.*not a sound SQLite database", ended.stdout)
    assert re.search(r"ok +sandbox|warning +sandbox", ended.stdout)  # the rest is looked at all the same


def test_doctor_tells_that_a_local_model_server_is_away(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    variables = {"SIGNALBOX_MODEL__NAME": "ollama/x", "SIGNALBOX_MODEL__API_BASE": url}
    ended = signalbox(tmp_path, "doctor", **variables)
    assert ended.returncode == 1
    assert "can't be reached" in ended.stdout


@pytest.mark.xdist_group("fresh")
def test_a_start_loads_nothing_that_it_does_not_need(fresh: AllFresh) -> None:
    code = "import sys; names = 'litellm alembic asyncpg pypdf docx openpyxl pptx lxml numpy runtime.memory runtime.vectors.embedding'; print([m for m in names.split() if m in sys.modules])"
    ended = fresh.after(*SERVING).run(code)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_version_is_printed() -> None:
    for asked in ("version", "--version"):
        assert re.fullmatch(r"signalbox \d\S*\n", CliRunner().invoke(cli, [asked]).output)


def test_a_guard_cannot_be_off_and_enforced_at_once() -> None:
    ended = CliRunner().invoke(cli, ["run", "--no-guardrails", "--enforce-guardrails"])
    assert ended.exit_code == WRONG_USE
    assert "--no-guardrails and --enforce-guardrails contradict each other" in ended.output


def test_a_command_that_finds_no_process_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    file, data = tmp_path / "signalbox.toml", tmp_path / "var"
    file.write_text(f'data_dir = "{data}"\n')
    ended = CliRunner().invoke(cli, ["chat", "--config", str(file)])
    told = (
        f"No Signalbox is running with data_dir {data}, which isn't there (settings: {file}). Start it: signalbox run."
    )
    assert ended.exit_code == 1
    assert ended.output.startswith(f"signalbox: {told}")
    assert "--config FILE" in ended.output
    data.write_text("")
    assert "which is no folder" in CliRunner().invoke(cli, ["chat", "--config", str(file)]).output
