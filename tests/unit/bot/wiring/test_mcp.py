"""MCP servers in the settings, in the agent's tools, and before the doctor."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.doctor.services.mcp import check_mcp
from bot.doctor.subject import Subject
from bot.settings.settings import Settings, load
from bot.wiring.mcp import check_sandboxes, terms_of, toolbox_of
from runtime.contract import Effect, Level, Tool
from runtime.errors import ConfigError
from tests.contract.runtime.stage import fake_tool
from tests.e2e.house import House
from tests.fakes import mcp_raw
from tests.fakes.fresh import SERVING, AllFresh
from tools.mcp.offers import Offer, recalled, remember, spec_of, taken, tool_name
from tools.mcp.terms import Endpoint, Program, ServerTerms
from tools.mcp.tool import McpTool


def settings(folder: Path, text: str, **variables: str) -> Settings:
    (folder / "signalbox.toml").write_text(text)
    return load(folder=folder, environ={"PATH": "/usr/bin:/bin", **variables})


def faults(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(folder, text, **variables)
    return str(caught.value)


# -------------------------------------------------------------------------------------------------------- settings


def test_a_program_is_handed_what_is_declared_and_nothing_else(tmp_path: Path) -> None:
    text = """
        [[mcp]]
        name = "tickets"
        command = "tickets-server"
        args = ["--stdio"]
        env = { LEVEL = "info" }
        env_from = ["SIGNALBOX_TICKETS"]
        effects = { "list_*" = "read", "drop_*" = "danger" }
        timeout_seconds = 5
    """
    read = settings(tmp_path, text, SIGNALBOX_TICKETS="hunter2-tickets", OPENAI_API_KEY="sk-not-for-it")
    terms = terms_of(read, read.mcp[0])
    assert isinstance(terms.way, Program)
    assert terms.way.command == ("tickets-server", "--stdio")
    assert terms.way.env == {"PATH": "/usr/bin:/bin", "LEVEL": "info", "SIGNALBOX_TICKETS": "hunter2-tickets"}
    assert terms.way.folder == tmp_path / "var" / "mcp" / "tickets"
    assert terms.way.uid == 65534
    assert terms.way.hidden == ("hunter2-tickets",)
    assert terms.timeout == timedelta(seconds=5)
    effects = [terms.effect_of(name, read_only=True) for name in ("list_open", "drop_all", "close")]
    assert effects == [Effect.READ, Effect.DANGER, Effect.WRITE]
    assert "hunter2-tickets" in read.secret_values()
    assert "hunter2-tickets" not in f"{read} {read.shown()} {terms}"


def test_a_program_is_kept_from_all_that_is_ours(tmp_path: Path) -> None:
    text = """
        database_url = "sqlite:///elsewhere/bot.db"
        workspace_dir = "files"
        [secrets]
        folder = "handed"
        file = "own.sealed"
        passphrase_file = "opens"
        [[mcp]]
        name = "tickets"
        command = "tickets-server"
    """
    (tmp_path / "signalbox.toml").write_text(text)
    read = load(folder=tmp_path, environ={"HOME": str(tmp_path / "home")}, demand=())  # which opens no secret
    way = terms_of(read, read.mcp[0]).way
    assert isinstance(way, Program)
    assert way.sandbox is not None
    assert not way.sandbox.network
    ours = {"var", "files", "signalbox.toml", "handed", "own.sealed", "opens", "home/.config/signalbox"}
    database = {f"elsewhere/bot.db{end}" for end in ("", "-wal", "-shm", "-journal")}
    assert {str(place.relative_to(tmp_path)) for place in way.sandbox.hidden} == ours | database


def test_a_program_may_be_let_out_and_has_no_network_unless_it_is_given(tmp_path: Path) -> None:
    read = settings(
        tmp_path,
        '[[mcp]]\nname = "a"\ncommand = "x"\nsandbox = "external"\n'
        '[[mcp]]\nname = "b"\ncommand = "x"\n[[mcp]]\nname = "c"\ncommand = "x"\nnetwork = true\n',
    )
    free, shut, wide = (terms_of(read, table) for table in read.mcp)
    assert isinstance(free.way, Program)
    assert free.way.sandbox is None
    assert "outside the sandbox" in free.whereabouts
    assert isinstance(shut.way, Program)
    assert shut.way.sandbox is not None
    assert not shut.way.sandbox.network
    assert shut.whereabouts == "It runs in a sandbox, without network."
    assert wide.whereabouts == "It runs in a sandbox, with network."


async def test_where_a_sandbox_is_demanded_and_none_works_the_process_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.mcp.sandbox.find", list)
    for sandbox in ("auto", "external"):
        await check_sandboxes(settings(tmp_path, f'[[mcp]]\nname = "a"\ncommand = "x"\nsandbox = "{sandbox}"'))
    demanded = '[[mcp]]\nname = "a"\ncommand = "x"\nsandbox = "bwrap"'
    await check_sandboxes(settings(tmp_path, f"{demanded}\nenabled = false"))
    with pytest.raises(ConfigError, match=r'\[\[mcp\]\] name = "a": sandbox = "bwrap" is required, but it cannot work'):
        await check_sandboxes(settings(tmp_path, demanded))


def test_a_server_of_others_is_shown_its_token(tmp_path: Path) -> None:
    text = """
        [[mcp]]
        name = "wiki"
        url = "https://wiki.example.org/mcp"
        token_env = "WIKI_TOKEN"
        headers = { X-Team = "blue-team" }
    """
    read = settings(tmp_path, text, WIKI_TOKEN="wiki-secret")
    terms = terms_of(read, read.mcp[0])
    assert isinstance(terms.way, Endpoint)
    assert terms.way.headers == {"Authorization": "Bearer wiki-secret", "X-Team": "blue-team"}
    assert {"wiki-secret", "blue-team"} <= set(read.secret_values())
    assert "wiki-secret" not in f"{read} {read.shown()} {terms}"
    assert "blue-team" not in f"{read} {read.shown()} {terms}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name = "a"', 'mcp[1].command ("a"): is missing; set it, or url for a server'),
        ('name = "a"\ncommand = "x"\nurl = "https://x"', 'mcp[1].url ("a"): is set, and command too'),
        ('name = "a"\nurl = "https://x"\nargs = ["y"]', 'mcp[1].args ("a"): is only for a server that command starts'),
        ('name = "a"\ncommand = "x"\ntoken = "y"', 'mcp[1].token ("a"): is only for a server reached by url'),
        ('name = "a"\nurl = "https://x"\nnetwork = false', 'mcp[1].network ("a"): is only for a server that command'),
        ('name = "a"\ncommand = "x"\nsandbox = "none"', 'expected "auto", "bwrap" or "external"'),
        (
            'name = "a"\ncommand = "x"\nsandbox = "external"\nnetwork = false',
            'mcp[1].network ("a"): only works in a sandbox; remove it, or set sandbox = "auto"',
        ),
        ('name = "a"\nurl = "http://far.example.org/mcp"\ntoken = "y"', "could be read on the way to another machine"),
        ('name = "a"\nurl = "ftp://x"', "expected an address without a password in it"),
        ('name = "a"\nurl = "https://me:pass@x/"', "expected an address without a password in it"),
        ('name = "No Name"\ncommand = "x"', "expected a name of at most 24 lowercase letters"),
        ('name = "a"\ncommand = "x"\nenv_from = ["GONE"]', "the variable GONE is not set; set it, or seal it"),
        ('name = "a"\ncommand = "x"\neffects = { b = "red" }', 'expected "read", "write" or "danger"'),
        ('name = "a"\ncommand = "x"\n[[mcp]]\nname = "a"\ncommand = "x"', "mcp[1] has this name too"),
    ],
)
def test_a_fault_names_the_setting_and_the_fix(tmp_path: Path, text: str, told: str) -> None:
    assert told in faults(tmp_path, f"[[mcp]]\n{text}\n")


def test_a_token_may_go_to_this_machine_without_https(tmp_path: Path) -> None:
    for host in ("127.0.0.1:8000", "localhost", "[::1]"):
        assert settings(tmp_path, f'[[mcp]]\nname = "a"\nurl = "http://{host}/mcp"\ntoken = "y"').mcp[0].token


def test_a_server_that_is_off_needs_no_secret(tmp_path: Path) -> None:
    assert settings(tmp_path, '[[mcp]]\nname = "a"\ncommand = "x"\nenabled = false\nenv_from = ["GONE"]').mcp


# ---------------------------------------------------------------------------------------------------------- offers


def terms(folder: Path, **more: object) -> ServerTerms:
    return ServerTerms("desk", Program(("x",), folder), folder / "desk.json", **more)  # type: ignore[arg-type]


def offer(name: str, description: str = "", schema: Mapping[str, object] | None = None, **hints: Any) -> Offer:
    return Offer(name, description, schema or {"type": "object"}, **hints)


def test_names_are_such_as_every_vendor_takes() -> None:
    assert tool_name("desk", "files/read me") == "desk_files_read_me"
    long = tool_name("desk", "x" * 100)
    assert len(long) == 64
    assert long != tool_name("desk", "x" * 101)


def test_of_two_tools_with_one_name_the_first_is_taken(tmp_path: Path) -> None:
    kept, left_out = taken([offer("a.b"), offer("a b")], terms(tmp_path))
    assert [one.name for one in kept] == ["a.b"]
    assert left_out == ["'a b' would get the name desk_a_b, like 'a.b'"]


def test_what_is_too_long_is_cut_or_left_out(tmp_path: Path) -> None:
    kept, left_out = taken([offer("a", "d" * 5000), offer("b", schema={"x": "y" * 30_000})], terms(tmp_path))
    assert [(one.name, len(one.description)) for one in kept] == [("a", 2000)]
    assert "the schema of its arguments is longer than 20,000 characters" in left_out[0]


def test_a_hint_counts_only_where_the_operator_trusts_it(tmp_path: Path) -> None:
    hinted = offer("look", read_only=True, idempotent=True)
    assert spec_of(hinted, terms(tmp_path)).effect is Effect.WRITE
    assert not spec_of(hinted, terms(tmp_path)).repeatable
    assert spec_of(hinted, terms(tmp_path, trust_hints=True)).effect is Effect.READ
    assert spec_of(hinted, terms(tmp_path, trust_hints=True, effects={"l*": Effect.DANGER})).effect is Effect.DANGER


def test_a_memory_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    known = terms(tmp_path)
    remember([offer("a")], known)
    assert recalled(known) == [offer("a")]
    for text in ("", "[]", '{"of": 1}', '{"offers": [1]}'):
        known.memory.write_text(text)
        assert recalled(known) == []


# --------------------------------------------------------------------------------------------------------- toolbox


@pytest.mark.xdist_group("fresh")
def test_nothing_is_loaded_where_no_server_is_set(tmp_path: Path, fresh: AllFresh) -> None:
    own: dict[str, Tool] = {"look": fake_tool("look", Effect.READ)}
    toolbox = toolbox_of(settings(tmp_path, ""), own, lambda tools: tools)
    assert (toolbox.tools, list(toolbox.duties())) == (own, [])
    theirs = (
        "{'mcp', 'mcp_types', 'httpx2', 'tools.mcp', 'tools.mcp.server', 'runtime.oauth', 'bot.wiring.logins.tokens'}"
    )
    ended = fresh.after(*SERVING).run(f"import sys, bot.doctor.examine; sys.exit(bool({theirs} & set(sys.modules)))")
    assert ended.returncode == 0, ended.stderr


def test_tools_of_servers_stand_beside_ours_wrapped_as_ours_are(tmp_path: Path) -> None:
    wrapped: list[list[str]] = []

    def wrap(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        wrapped.append(list(tools))
        return tools

    read = settings(tmp_path, '[[mcp]]\nname = "desk"\ncommand = "x"')
    toolbox = toolbox_of(read, {"look": fake_tool("look", Effect.READ)}, wrap)
    server = toolbox._servers[0]
    server.tools = [McpTool(offer("book"), terms(tmp_path), server.reach, server.held)]
    toolbox.renew()
    asking = ["desk_asks_you", "desk_goes_on"]
    assert list(toolbox.tools) == ["look", "desk_book", *asking] == wrapped[-1]
    assert all(toolbox.tools[name].spec.untold for name in asking), "models are not told of them"
    server.tools = []
    toolbox.renew()
    assert toolbox.tools.get("desk_book") is None
    assert len(toolbox.duties()) == 1


def test_a_server_whose_tools_could_be_taken_for_ours_is_refused(tmp_path: Path) -> None:
    read = settings(tmp_path, '[[mcp]]\nname = "read"\ncommand = "x"')
    with pytest.raises(ConfigError, match=r'\[\[mcp\]\] name = "read": .*read_file\. Give the server another name'):
        toolbox_of(read, {"read_file": fake_tool("read_file", Effect.READ)}, lambda tools: tools)


# ---------------------------------------------------------------------------------------------------------- doctor


async def test_the_doctor_tells_of_each_server(tmp_path: Path) -> None:
    command = f'command = "{sys.executable}"\nuid = {os.getuid()}\nargs = ["-I", "-S", "{mcp_raw.__file__}"'
    text = f"""
        [[mcp]]
        name = "good"
        {command}, "plain"]
        [[mcp]]
        name = "wide"
        {command}, "plain"]
        network = true
        [[mcp]]
        name = "free"
        {command}, "plain"]
        sandbox = "external"
        [[mcp]]
        name = "narrow"
        {command}, "plain"]
        tools = ["none_of_them"]
        [[mcp]]
        name = "many"
        {command}, "many"]
        [[mcp]]
        name = "broken"
        {command}, "refuses"]
        [[mcp]]
        name = "missing"
        command = "no-such-program-at-all"
        [[mcp]]
        name = "off"
        command = "x"
        enabled = false
    """
    found = {finding.id: finding for finding in await check_mcp(Subject(settings(tmp_path, text), None, None, None))}
    assert found["mcp.good"].level is Level.OK
    assert "10 tools (echo, book, hang" in found["mcp.good"].what
    assert found["mcp.good"].what.endswith("), in a sandbox without network")
    assert found["mcp.wide"].what.endswith("), in a sandbox with this machine's network")
    assert found["mcp.free"].what.endswith('), without a sandbox: sandbox = "external"')
    assert found["mcp.off"].level is Level.OK
    assert "no tool that `tools` allows" in found["mcp.narrow"].what
    assert found["mcp.many"].what.startswith("1872 of its tools are left out")
    assert "its last words: no licence was found" in found["mcp.broken"].what
    assert "there is no program 'no-such-program-at-all'" in found["mcp.missing"].what
    assert {found[f"mcp.{name}"].level for name in ("narrow", "many", "broken", "missing")} == {Level.WARNING}


async def test_what_a_server_says_is_no_part_of_what_the_doctor_says(tmp_path: Path) -> None:
    words = 'echo "word-of-desk" >&2'
    text = f'[[mcp]]\nname = "desk"\ncommand = "/bin/sh"\nargs = ["-c", {json.dumps(words)}]\nsandbox = "external"\n'
    house = House(tmp_path, text)
    told = (await asyncio.to_thread(house.command, "doctor")).stdout
    assert "desk" in told
    assert told.count("word-of-desk") == 1, "told once, as its last words"
    assert "an MCP server says" not in told
    said = (await asyncio.to_thread(house.command, "doctor", "--json")).stdout
    assert json.loads(said)["findings"]
