"""Settings: layers, and one error that tells every fault and no secret."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.accounts.naming import naming
from bot.reference import settings as settings_doc
from bot.settings.faults import MASK, nearest
from bot.settings.sections.rooms import Web
from bot.settings.settings import Settings, load
from bot.settings.sources import names_of, variable_of
from bot.wiring.access import gate_of
from bot.wiring.engine import limits_of
from runtime.context.resting import Rest, Restore
from runtime.contract import Address, Busy
from runtime.domain.routing import Attention
from runtime.errors import ConfigError

ROOT = Path(__file__).parents[4]


def write(folder: Path, text: str) -> Path:
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return file


def read(folder: Path, text: str, **variables: str) -> Settings:
    return load(write(folder, text), environ=variables)


def faults(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **variables)
    return str(caught.value)


def test_a_default_that_follows_from_a_faulty_setting_is_no_fault_of_its_own(tmp_path: Path) -> None:
    told = f"data_dir: got a number 5 (from {tmp_path / 'signalbox.toml'}); expected a path in quotes."
    assert faults(tmp_path, "data_dir = 5\n") == f"This setting is wrong:\n  {told}"


def test_the_demo_is_told_of_only_where_it_may_answer(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text('[[answers]]\ntext = "Hi."\n')
    stub = '[[agents]]\nname = "{}"\nprompt = "p"\nexecutor = "stub"\nanswers = "answers.toml"\n'
    main, other = stub.format("main").replace('prompt = "p"\n', ""), stub.format("ops")
    assert [read(tmp_path, text).demo_answers for text in ("", main, other, main + other)] == [True, False, True, False]
    assert read(tmp_path, main).banner is None


# ----------------------------------------------------------------------------------------------------------- layers


def test_nothing_set_is_the_demo_in_the_working_folder(tmp_path: Path) -> None:
    settings = load(environ={}, folder=tmp_path)
    assert settings.file is None
    assert settings.data_dir == tmp_path / "var"
    assert settings.database_url == f"sqlite:///{tmp_path}/var/signalbox.db"
    assert settings.banner is not None
    assert "demo model" in settings.banner


def test_a_draft_is_tried_where_no_file_is_yet_and_read_once_it_is_there(tmp_path: Path) -> None:
    settings = load(environ={}, folder=tmp_path)
    assert settings.place == tmp_path / "signalbox.toml"
    tried = settings.with_text("[web]\nport = 7\n")
    assert (tried.web.port, tried.data_dir, settings.place.exists()) == (7, settings.data_dir, False)
    write(tmp_path, "[web]\nport = 8\n")
    assert (settings.reread().web.port, settings.reread().file) == (8, settings.place)


def test_flags_go_before_variables_and_variables_before_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "[web]\nport = 1\nhost = 'a'\nhosts = ['x']\n")
    variables = {"SIGNALBOX_WEB__PORT": "2", "SIGNALBOX_WEB__HOST": "b"}
    settings = load(file, {"web.port": 3}, environ=variables)
    assert (settings.web.port, settings.web.host, settings.web.hosts) == (3, "b", ("x",))
    assert settings.source("web.port") == "flag"
    assert settings.source("web.host") == "SIGNALBOX_WEB__HOST"
    assert settings.source("web.hosts") == str(file)
    assert settings.source("web.upload_mib") == "default"


def test_the_working_folder_goes_before_the_users_config_folder(tmp_path: Path) -> None:
    own = tmp_path / "config" / "signalbox"
    own.mkdir(parents=True)
    write(own, "[web]\nport = 1\n")
    variables = {"XDG_CONFIG_HOME": str(own.parent)}
    assert load(environ=variables, folder=tmp_path).web.port == 1
    write(tmp_path, "[web]\nport = 2\n")
    assert load(environ=variables, folder=tmp_path).web.port == 2


def test_relative_paths_start_at_the_settings_file(tmp_path: Path) -> None:
    settings = read(tmp_path, 'data_dir = "here"\ndatabase_url = "sqlite:///there/x.db"\n')
    assert settings.data_dir == tmp_path / "here"
    assert settings.workspace_dir == tmp_path / "here" / "workspaces"
    assert settings.database_file == tmp_path / "there" / "x.db"


@pytest.mark.parametrize("url", ["sqlite:///:memory:", "sqlite://"])
def test_a_database_in_memory_has_no_file(tmp_path: Path, url: str) -> None:
    settings = read(tmp_path, f'database_url = "{url}"')
    assert settings.database_url == "sqlite:///:memory:"
    assert settings.database_file is None


def test_variables_hold_toml_values_or_plain_text(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "",
        SIGNALBOX_ACCESS__OWNERS='["web:ada", "slack:T1/U1"]',
        SIGNALBOX_ACCESS__SELF_APPROVAL="false",
        SIGNALBOX_APPROVALS__EXPIRES_HOURS="0.5",
        SIGNALBOX_SESSIONS__BUSY="collect",
        SIGNALBOX_TOOLS__SHELL__UID="1000",
        SIGNALBOX_WEB__TOKEN="1234567812345678",
        SIGNALBOX_POLICY='[{tool = "shell", arguments = {command = "ls *"}, result = "allow"}]',
        SIGNALBOX_LOG__LEVEL="",
    )
    assert settings.access.owners == ("web:ada", "slack:T1/U1")
    assert not settings.access.self_approval
    assert settings.approvals.expires.total_seconds() == 1800
    assert settings.sessions.busy is Busy.COLLECT
    assert settings.tools.shell.uid == 1000
    assert settings.web.token is not None
    assert settings.web.token.get_secret_value() == "1234567812345678"
    assert settings.policy[0].arguments == {"command": "ls *"}
    assert settings.log.level == "info"


def test_rooms_of_the_settings_are_the_rules_of_the_gate(tmp_path: Path) -> None:
    """They name accounts as the settings do; inside, an address has the account's identity."""
    text = '[sessions]\nfreshness_hours = 2\n[[rooms]]\naddress = "slack:work/C1"\npeople = ["Ada"]\nattention = "strict"\n'
    gate = gate_of(read(tmp_path, text), named=naming([("slack", "T1", "work")]))
    rule = gate.rooms.rule(Address("slack", "T1", "C1", "17.0"))
    assert (rule.attention, rule.people) == (Attention.STRICT, frozenset({"Ada"}))
    assert gate.rooms.rule(Address("slack", "T1", "C2")).attention is None
    assert (gate.pairs, gate.open_to_all, gate.model) == (True, False, "demo")
    assert gate.freshness == timedelta(hours=2)


def test_what_a_conversation_begins_with_after_a_rest_is_set(tmp_path: Path) -> None:
    rest = limits_of(read(tmp_path, '[sessions]\nrest_hours = 0.5\nrestore = "summary"\n')).rest
    assert rest == Rest(timedelta(minutes=30), Restore.SUMMARY)
    assert limits_of(read(tmp_path, "")).rest == Rest(timedelta(hours=24), Restore.TRANSCRIPT)


def test_mistakes_about_rooms_are_told(tmp_path: Path) -> None:
    text = '[access]\nrooms = "loud"\nbots_in_a_row = 0\n[[rooms]]\nattention = "open"\n'
    told = faults(tmp_path, text)
    assert 'access.rooms: got text "loud"' in told
    assert "access.bots_in_a_row: got" in told
    assert "rooms[1].address: is missing" in told


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        ("{{ persn.name }}", "line 1: there is no persn.name (did you mean person.name?). There are: agent"),
        ("x" * 100_000, "expected a prompt that can be filled in; it has 100,000 characters; at most 20,000"),
    ],
)
def test_a_faulty_prompt_of_a_room_is_told_at_the_start(tmp_path: Path, prompt: str, says: str) -> None:
    told = faults(tmp_path, f'[[rooms]]\naddress = "slack:work/C1"\nprompt = "{prompt}"\n')
    assert "rooms[1].prompt: got" in told
    assert says in told


def test_a_prompt_file_that_is_missing_or_faulty_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("a\n{{ rom.name }}")
    text = '[run]\nprompt_file = "own.md"\n[[rooms]]\naddress = "slack:work/C1"\nprompt_file = "gone.md"\n'
    told = faults(tmp_path, text)
    assert f"{tmp_path / 'own.md'}, line 2: there is no rom.name" in told
    assert "gone.md is none (No such file or directory)" in told
    both = '[[rooms]]\naddress = "slack:work/C1"\nprompt = "x"\nprompt_file = "own.md"\n'
    (tmp_path / "own.md").write_text("fine")
    assert "a prompt and a prompt_file" in faults(tmp_path, both)


def test_the_example_file_is_valid() -> None:
    settings = load(ROOT / "config" / "example.toml", environ={})
    assert [rule.result for rule in settings.policy] == ["deny", "allow", "ask"]


# ---------------------------------------------------------------------------------------------------------- secrets


def test_a_twin_names_the_variable_that_holds_the_secret(tmp_path: Path) -> None:
    settings = read(tmp_path, '[web]\ntoken_env = "MINE"\n', MINE="sesame-open-the-door")
    assert settings.web.token is not None
    assert settings.web.token.get_secret_value() == "sesame-open-the-door"


def test_a_later_layer_replaces_the_twin_of_an_earlier_one(tmp_path: Path) -> None:
    settings = read(
        tmp_path, '[web]\ntoken = "the-first-of-them"\n', SIGNALBOX_WEB__TOKEN_ENV="MINE", MINE="the-second-of-them"
    )
    assert settings.secret_values() == ["the-second-of-them"]


def test_both_twins_in_one_layer_are_a_fault(tmp_path: Path) -> None:
    assert "keep one of them" in faults(tmp_path, '[web]\ntoken = "abc"\ntoken_env = "MINE"\n', MINE="def")


def test_a_twin_whose_variable_is_not_set_is_a_fault(tmp_path: Path) -> None:
    assert "the variable MINE is not set" in faults(tmp_path, '[web]\ntoken_env = "MINE"\n')


def test_secrets_are_masked_wherever_settings_are_shown(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        'database_url = "postgresql://me:hunter2@db/x"\n[web]\ntoken = "sesame-1-of-the-page"\n[model]\napi_key = "sk-sesame-2"\n',
    )
    shown = f"{settings!r} {settings} {settings.shown()} {settings.web!r}"
    assert not any(secret in shown for secret in ("hunter2", "sesame"))
    assert settings.shown()["database_url"] == f"postgresql://me:{MASK}@db/x"
    assert sorted(settings.secret_values()) == ["hunter2", "sesame-1-of-the-page", "sk-sesame-2"]


def test_the_way_past_a_pooler_is_masked_too_and_may_have_the_same_password(tmp_path: Path) -> None:
    pooled, direct = "postgresql://me:sesame@pooler/x", "postgresql://me:sesame@db/x"
    settings = read(tmp_path, f'database_url = "{pooled}"\ndatabase_listen_url = "{direct}"\n')
    assert settings.listen_url == direct
    assert settings.shown()["database_listen_url"] == f"postgresql://me:{MASK}@db/x"
    assert "sesame" not in f"{settings!r} {settings.shown()}"


def test_without_a_way_of_its_own_processes_hear_each_other_at_the_database(tmp_path: Path) -> None:
    assert read(tmp_path, 'database_url = "postgresql://me@db/x"').listen_url == "postgresql://me@db/x"


@pytest.mark.parametrize("url", ["sqlite:///x.db", "postgresql:///x", "me:sesame@db/x"])
def test_a_way_that_is_no_server_is_a_fault(tmp_path: Path, url: str) -> None:
    told = faults(tmp_path, f'database_url = "postgresql://me@db/x"\ndatabase_listen_url = "{url}"\n')
    assert "database_listen_url" in told
    assert "postgresql://USER:PASSWORD@HOST/NAME" in told
    assert "sesame" not in told


@pytest.mark.parametrize(
    "text",
    [
        '[web]\ntoken = ["sesame"]',
        '[web]\ntokn = "sesame"',
        '[model]\napikey = "sesame"',
        "[model]\napi_key = {sesame = 1}",
        'database_url = "mysql://me:sesame@host/x"',
        '[web]\ntoken = "sesame',
        '[web]\ntoken = """\nsesame',
        '[model]\napi_key = [\n"sesame" "x"]',
    ],
)
def test_a_fault_never_tells_the_value_of_a_secret(tmp_path: Path, text: str) -> None:
    assert "sesame" not in faults(tmp_path, text)


# ----------------------------------------------------------------------------------------------------------- models


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
    ],
)
def test_a_named_model_needs_its_key_and_finds_it(tmp_path: Path, model: str, variable: str) -> None:
    text = f'[model]\nname = "{model}"\n'
    assert f"set the variable {variable}" in faults(tmp_path, text)
    settings = read(tmp_path, text, **{variable: "k-1"})
    assert settings.secret_values() == ["k-1"]
    assert settings.source("model.api_key") == variable
    assert settings.banner is None


@pytest.mark.parametrize("text", ['name = "ollama/llama3"', 'name = "openai/x"\napi_base = "http://127.0.0.1:1/v1"'])
def test_local_models_need_no_key(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, f"[model]\n{text}\n").model.api_key is None


def test_a_missing_key_is_told_with_the_other_faults(tmp_path: Path) -> None:
    told = faults(tmp_path, '[model]\nname = "gpt-4o"\n[web]\nport = "x"\n')
    assert "OPENAI_API_KEY" in told
    assert "web.port" in told


def test_without_a_name_it_is_demo_also_when_a_key_is_found(tmp_path: Path) -> None:
    settings = read(tmp_path, "", OPENAI_API_KEY="sk-1")
    assert settings.model.is_demo
    assert settings.model.api_key is None
    assert "OPENAI_API_KEY is set but not used" in (settings.banner or "")


def test_demo_does_not_ask_for_the_key_that_its_file_names(tmp_path: Path) -> None:
    assert read(tmp_path, '[model]\napi_key_env = "OPENAI_API_KEY"\n').model.is_demo


# ----------------------------------------------------------------------------------------------------------- faults


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    told = faults(
        tmp_path,
        'prot = 1\n[web]\nport = "eighty"\nhots = []\n[access]\ndefault = "nobody"\nowners = ["ada"]\napprovers = ["Bob"]\n'
        '[outbox]\nsettle_first_seconds = -1\n[[policy]]\ntool = "shell"\neffekt = "read"\n'
        '[run]\nprompt_file = "missing.md"\nmax_iterations = true\n',
        SIGNALBOX_LOG__LEVEL="loud",
        SIGNALBOX_WEB__PROT="1",
    )
    lines = told.splitlines()
    assert lines[0] == "These 13 settings are wrong:"
    assert len(lines) == 14
    for words in (
        "prot: there is no such setting",
        f'web.port: got text "eighty" (from {tmp_path}/signalbox.toml); expected a whole number.',
        "did you mean web.hosts?",
        'access.default: got text "nobody"',
        'expected "pair", "deny" or "allow".',
        "access.owners[1]: got text",
        'access.approvers[1]: got text "Bob"',
        "expected more than 0.",
        "policy[1].result: is missing",
        "did you mean policy[1].effect?",
        "run.prompt_file:",
        "run.max_iterations: got a switch true",
        '(from SIGNALBOX_LOG__LEVEL); expected "debug", "info", "warning" or "error".',
        "SIGNALBOX_WEB__PROT: there is no such setting; did you mean SIGNALBOX_WEB__PORT?",
    ):
        assert words in told


def test_a_key_in_the_wrong_table_finds_its_place(tmp_path: Path) -> None:
    assert "did you mean web.port?" in faults(tmp_path, "port = 1\n")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[web\nport = 1", ":1:5:"),
        ('a = "x', ":1:"),
        ("[web]\nport = = 1\n", ":2:8:"),
        ("x", ":1:2:"),
        ("a = 1\na = 2\n", ":2:"),
    ],
)
def test_broken_toml_is_shown_with_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    told = faults(tmp_path, text)
    assert f"{tmp_path}/signalbox.toml{place}" in told
    assert "not TOML" in told


def test_a_file_that_is_no_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ConfigError, match=r"signalbox.toml:2: not UTF-8"):
        load(file, environ={})


def test_a_named_file_that_is_missing_or_a_folder_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no settings file"):
        load(tmp_path / "none.toml", environ={})
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path, environ={})


@pytest.mark.parametrize("url", ["mysql://h/x", "sqlite:///", "postgresql:///x", "signalbox.db", "postgres://h/x"])
def test_an_unknown_database_is_refused(tmp_path: Path, url: str) -> None:
    assert "postgresql://USER:PASSWORD@HOST/NAME" in faults(tmp_path, f'database_url = "{url}"')


NAMES = list(names_of(Settings))


@given(st.sampled_from(NAMES), st.data())
def test_a_slip_in_any_name_is_told_with_the_right_one(name: str, data: st.DataObject) -> None:
    last = name.rpartition(".")[2]
    place = data.draw(st.integers(1, len(last) - 1))
    slip = name.removesuffix(last) + last[:place] + "x" + last[place:]
    variable = variable_of(slip, "SIGNALBOX_")
    if slip in NAMES:
        return
    with pytest.raises(ConfigError) as caught:
        load(environ={variable: "1"}, folder=Path("/nonexistent"))
    assert nearest(variable, [variable_of(known, "SIGNALBOX_") for known in NAMES]) is not None
    assert "did you mean SIGNALBOX_" in str(caught.value)


@given(st.dictionaries(st.text(min_size=1, max_size=12), st.text(max_size=8), min_size=1, max_size=5))
def test_unknown_keys_never_break_the_telling(keys: dict[str, str]) -> None:
    overrides = {f"web.{key.replace('.', '')}x_": value for key, value in keys.items()}
    with pytest.raises(ConfigError, match="no such setting"):
        load(None, dict(overrides), environ={}, folder=Path("/nonexistent"))


def test_the_page_of_settings_is_fresh() -> None:
    assert settings_doc.SETTINGS_PAGE.read_text(encoding="utf-8") == settings_doc.document(), (
        "python -m bot.reference.settings"
    )


@pytest.mark.parametrize(
    ("given", "names"),
    [("", ("x",)), ("https://bot.example.org", ("x", "bot.example.org")), ("http://h:81/", ("x", "h:81"))],
)
def test_the_name_in_the_public_address_is_known(given: str, names: tuple[str, ...]) -> None:
    assert Web(hosts=("x",), public_url=given).names == names


@pytest.mark.parametrize(
    "given",
    [
        "bot.example.org",
        "ftp://h",
        "https://",
        "https://h/page",
        "https://h:x",
        "https://u@h",
        "http://a b",
        "https://a.example\n",
    ],
)
def test_a_public_address_that_is_none_is_told_in_words(given: str) -> None:
    with pytest.raises(ValueError, match=r'where browsers reach the page.*such as "https://bot.example.org"'):
        Web(public_url=given)
