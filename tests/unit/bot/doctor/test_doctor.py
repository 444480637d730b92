"""doctor: each trouble is found, with why it matters and what mends it; nothing is changed; the rest goes on."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.doctor.examine import CHECKS, examine, is_healthy
from bot.doctor.machine import nodes, place, store
from bot.doctor.services import watching
from bot.doctor.services import web as web_check
from bot.doctor.subject import Check, Subject
from bot.node.lock import Control, announced, holding
from bot.secrets.disk import replace
from bot.secrets.keys import VARIABLE
from bot.secrets.sealed import Lock, seal
from bot.settings.settings import load_usable
from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from runtime.contract import Finding, Level, NodeId
from runtime.store.sql.driver import micros
from runtime.store.store import open_store
from tests.fakes.collector import collecting
from tests.fakes.postgres import Postgres


class Patient:
    """An installation in a folder, examined."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "var"

    async def look(
        self,
        *names: str,
        settings: str = "",
        variables: Mapping[str, str] | None = None,
        live: bool = False,
    ) -> dict[str, Finding]:
        """What the checks of these names find, by id."""
        file = self.folder / "signalbox.toml"
        file.write_text(settings)
        file.chmod(0o600)
        read, faults = load_usable(file, environ={"HOME": str(self.folder / "home"), **(variables or {})})
        checks: Mapping[str, Check] = {name: CHECKS[name] for name in names}
        found = [f async for f in examine(read, faults, live=live, checks=checks)]
        assert all(f.why and f.fix for f in found if f.level is not Level.OK)
        assert len({f.id for f in found}) == len(found)
        return {f.id: f for f in found}

    async def with_store(self) -> None:
        self.data.mkdir()
        await (await open_store(f"sqlite:///{self.data}/signalbox.db")).close()

    def sql(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.data / "signalbox.db")) as database:
            database.execute(statement, values)
            database.commit()


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


# ------------------------------------------------------------------------------------------------------------ as a whole


async def test_an_empty_folder_is_healthy_and_stays_empty(patient: Patient) -> None:
    found = await patient.look(*CHECKS, settings="[web]\nport = 0\n")
    assert is_healthy(list(found.values()))
    assert sorted(path.name for path in patient.folder.iterdir()) == ["signalbox.toml"]


async def test_a_folder_of_another_user_is_no_bug(patient: Patient) -> None:
    async def closed(subject: Subject) -> Sequence[Finding]:
        raise PermissionError(13, "Permission denied", "/srv/var/signalbox.db")

    read, faults = load_usable(environ={}, folder=patient.folder)
    [found] = [f async for f in examine(read, faults, checks={"store": closed})]
    assert (found.id, found.what) == ("store.check", "/srv/var/signalbox.db is closed to this user")
    assert "the account that runs Signalbox" in found.fix


async def test_a_check_that_breaks_is_a_finding_and_the_rest_goes_on(patient: Patient) -> None:
    async def breaks(subject: Subject) -> Sequence[Finding]:
        raise RuntimeError("a bug")

    read, faults = load_usable(environ={}, folder=patient.folder)
    checks = {"broken": breaks, "process": CHECKS["process"]}
    found = [f async for f in examine(read, faults, checks=checks)]
    assert [(f.id, f.level) for f in found] == [("broken.check", Level.ERROR), ("process.state", Level.OK)]
    assert "RuntimeError: a bug" in found[0].what


async def test_warnings_are_no_illness() -> None:
    assert is_healthy([Finding(Level.WARNING, "x", "y", "z", "a"), Finding(Level.OK, "x", "y")])
    assert not is_healthy([Finding(Level.ERROR, "x", "y", "z", "a")])


# ---------------------------------------------------------------------------------------------------------- the settings


async def test_wrong_settings_are_told_and_the_rest_is_looked_at(patient: Patient) -> None:
    found = await patient.look("settings", "data_dir", settings='data_dir = "elsewhere"\n[web]\nprot = 1\n')
    assert found["settings.valid"].level is Level.ERROR
    assert "did you mean web.port?" in found["settings.valid"].what
    assert "elsewhere" in found["data_dir.writable"].what


async def test_a_fault_in_the_file_of_a_workflow_is_to_be_mended_there(patient: Patient) -> None:
    file = patient.folder / "workflows/report.toml"
    file.parent.mkdir()
    file.write_text('[[steps]]\nname = "one"\ncolour = "red"\n')
    found = (await patient.look("settings", settings=""))["settings.valid"]
    assert found.level is Level.ERROR
    assert "workflows/report.toml" in found.what
    assert "files that are named above" in found.fix


async def test_a_secret_in_a_file_that_others_can_read_is_told(patient: Patient) -> None:
    file = patient.folder / "signalbox.toml"
    file.write_text('[web]\ntoken = "sesame-of-the-page"\n')
    for mode, exposed in ((0o644, True), (0o600, False)):
        file.chmod(mode)
        read, faults = load_usable(file, environ={})
        found = [f async for f in examine(read, faults, checks={"settings": CHECKS["settings"]})]
        assert ("settings.exposed" in {f.id for f in found}) is exposed
    assert "sesame" not in str(found)


async def test_a_key_that_is_not_used_is_told(patient: Patient) -> None:
    found = await patient.look("settings", variables={"OPENAI_API_KEY": "sk-1"})
    assert "OPENAI_API_KEY is set but not used" in found["settings.unused_key"].what


# ----------------------------------------------------------------------------------------------------------- the secrets


def sealed(path: Path, passphrase: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, seal({}, passphrase, Lock.KEY_FILE))


async def test_each_file_of_the_chain_is_told_by_its_place(patient: Patient) -> None:
    own = patient.folder / "home" / ".config" / "signalbox" / "secrets.sealed"
    sealed(patient.folder / "named", "right")
    sealed(patient.data / "secrets.sealed", "right")
    sealed(own, "an old one")
    found = await patient.look("secrets", settings='[secrets]\nfile = "named"\n', variables={VARIABLE: "right"})
    assert [found[f"secrets.{name}"].level for name in ("named", "data_dir", "user")] == ["ok", "ok", "warning"]
    assert str(own) in found["secrets.user"].what
    assert "passphrase is wrong" in found["secrets.user"].what


async def test_a_file_of_another_mode_is_told_with_the_command(patient: Patient) -> None:
    sealed(patient.folder / "named", "right")
    (patient.folder / "named").chmod(0o644)
    found = await patient.look("secrets", settings='[secrets]\nfile = "named"\n', variables={VARIABLE: "right"})
    assert found["secrets.named"].level is Level.ERROR
    assert f"chmod 600 {patient.folder / 'named'}" in found["secrets.named"].fix


async def test_a_passphrase_file_for_all_to_read_is_told(patient: Patient) -> None:
    (patient.folder / "pass").write_text("right")
    (patient.folder / "pass").chmod(0o644)
    found = await patient.look("secrets", settings='[secrets]\npassphrase_file = "pass"\n')
    assert found["secrets.passphrase_file"].level is Level.WARNING


# ----------------------------------------------------------------------------------------------------------- the folders


@pytest.mark.parametrize(("free", "level"), [(1 << 40, "ok"), (500 << 20, "warning"), (1 << 20, "error")])
async def test_little_room_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch, free: int, level: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(free))
    assert (await patient.look("data_dir"))["data_dir.space"].level == level


class Usage:
    def __init__(self, free: int) -> None:
        self.free = free


@pytest.mark.parametrize(("kind", "level"), [("tmpfs", "warning"), ("nfs4", "error")])
async def test_a_disk_that_is_none_for_a_database_is_told(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, kind: str, level: str
) -> None:
    monkeypatch.setattr(place, "file_system", lambda folder: kind)
    assert (await patient.look("data_dir"))["data_dir.disk"].level == level


def test_the_kind_of_a_file_system_is_that_of_the_nearest_mount() -> None:
    assert place.file_system(Path("/proc/self")) == "proc"


async def test_a_slow_disk_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    patient.data.mkdir()
    monkeypatch.setattr(place, "_one_flush", lambda folder: 0.2)
    found = await patient.look("data_dir")
    assert found["data_dir.flush"].what == "a write is safe on disk after 200.0 ms"
    assert found["data_dir.flush"].level is Level.WARNING


async def test_what_a_kill_left_behind_is_told_with_the_command_that_removes_it(patient: Patient) -> None:
    patient.data.mkdir()
    (patient.data / "secrets.sealed.new").touch()
    assert "rm secrets.sealed.new" in (await patient.look("data_dir"))["data_dir.leftovers"].fix


async def test_a_place_where_no_folder_can_be_is_told(patient: Patient) -> None:
    (patient.folder / "file").touch()
    found = await patient.look("data_dir", settings='data_dir = "file/var"\n')
    assert found["data_dir.writable"].level is Level.ERROR


# ----------------------------------------------------------------------------------------------------------- the process


async def test_a_process_that_is_starting_is_told(patient: Patient) -> None:
    with holding(patient.data):
        found = await patient.look("process")
    assert f"process {os.getpid()} holds the folder" in found["process.state"].what


async def test_a_process_that_does_not_answer_is_told(patient: Patient) -> None:
    with holding(patient.data), announced(patient.data, Control("http://127.0.0.1:1", "t", os.getpid())):
        found = await patient.look("process")
    assert found["process.state"].level is Level.ERROR
    assert f"process {os.getpid()} does not answer" in found["process.state"].what


# ------------------------------------------------------------------------------------------------------------- the store


async def test_a_sound_database_is_only_read(patient: Patient) -> None:
    await patient.with_store()
    before = (patient.data / "signalbox.db").read_bytes()
    found = await patient.look("store")
    assert {f.level for f in found.values()} == {Level.OK}
    assert {"store.reachable", "store.revision", "store.whole"} <= set(found)
    assert (patient.data / "signalbox.db").read_bytes() == before


@pytest.mark.parametrize(("revision", "level"), [("0001", "ok"), ("9999", "error")])
async def test_an_older_schema_is_fine_and_a_newer_one_is_not(patient: Patient, revision: str, level: str) -> None:
    await patient.with_store()
    patient.sql("UPDATE alembic_version SET version_num = ?", revision)
    assert (await patient.look("store"))["store.revision"].level == level


async def test_a_damaged_page_is_found(patient: Patient) -> None:
    await patient.with_store()
    file = patient.data / "signalbox.db"
    with file.open("r+b") as database:
        database.seek(4096 * 5)
        database.write(b"\xff" * 4096)
    found = await patient.look("store")
    assert Level.ERROR in {f.level for f in found.values()}


async def test_what_is_no_database_is_told(patient: Patient) -> None:
    patient.data.mkdir()
    (patient.data / "signalbox.db").write_bytes(b"no database" * 500)
    assert "not a sound SQLite database" in (await patient.look("store"))["store.reachable"].what


async def test_a_log_that_only_grows_is_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    await patient.with_store()
    monkeypatch.setattr(store, "LONG_LOG", -1)
    with closing(sqlite3.connect(patient.data / "signalbox.db")) as reader:
        reader.execute("SELECT * FROM nodes").fetchall()  # keeps the log there
        assert "signalbox.db-wal" in (await patient.look("store"))["store.log"].what


async def test_a_database_in_memory_is_told(patient: Patient) -> None:
    found = await patient.look("store", settings='database_url = "sqlite:///:memory:"\n')
    assert found["store.reachable"].level is Level.WARNING


async def test_postgresql_is_looked_at_without_making_tables(patient: Patient, postgres: Postgres) -> None:
    url = postgres.create_database()
    found = await patient.look("store", "clock", settings=f'database_url = "{url}"\n')
    assert found["store.reachable"].what.startswith("PostgreSQL ")
    assert "upgraded at the next start" in found["store.revision"].what
    assert found["store.latency"].level in (Level.OK, Level.WARNING)
    assert found["clock.database"].level is Level.OK
    assert found["store.notices"].level is Level.OK


async def test_nodes_are_live_by_the_servers_clock_also_where_ours_is_the_wrong_one(
    patient: Patient, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.create_database()
    there = await open_store(url)
    length = timedelta(hours=1)
    lease = await there.cluster.join(NodeId("n"), "alpha/7", length, alone=False)
    await there.cluster.beat(lease, length, offset=timedelta(days=1))
    await there.close()
    monkeypatch.setattr(nodes, "micros", lambda at: micros(at + timedelta(days=1)))
    found = await patient.look("nodes", settings=f'database_url = "{url}"\n')
    assert "the clock of alpha/7 is 86,400 s ahead" in found["nodes.clock"].what


async def test_processes_that_would_not_hear_each_other_are_told(patient: Patient, postgres: Postgres) -> None:
    elsewhere = "postgresql://me:sesame@127.0.0.1:1/x"
    settings = f'database_url = "{postgres.create_database()}"\ndatabase_listen_url = "{elsewhere}"\n'
    found = (await patient.look("store", settings=settings))["store.notices"]
    assert found.level is Level.WARNING
    assert "let database_listen_url lead to a PostgreSQL server that runs" in found.fix
    assert "sesame" not in str(found)


async def test_postgresql_that_is_away_is_told_without_its_password(patient: Patient) -> None:
    found = await patient.look("store", "clock", settings='database_url = "postgresql://me:sesame@127.0.0.1:1/x"\n')
    assert found["store.reachable"].level is Level.ERROR
    assert "sesame" not in str(found)


# ------------------------------------------------------------------------------------------------------------- the clock


async def test_a_clock_behind_its_own_database_is_told(patient: Patient) -> None:
    await patient.with_store()
    ahead = int((datetime.now(UTC) + timedelta(hours=1)).timestamp() * 1_000_000)
    columns = {"id": "x", "dedupe_key": "x", "received_at": ahead}
    with closing(sqlite3.connect(patient.data / "signalbox.db")) as database:
        for _, name, kind, required, default, _key in database.execute("PRAGMA table_info(signals)"):
            if required and default is None:
                columns.setdefault(name, 0 if "INT" in kind else "x")
    marks = ", ".join("?" * len(columns))
    patient.sql(f"INSERT INTO signals ({', '.join(columns)}) VALUES ({marks})", *columns.values())
    assert (await patient.look("clock"))["clock.database"].level is Level.WARNING


# --------------------------------------------------------------------------------------------------------------- the web


async def test_a_port_in_use_is_a_fault_for_the_page_and_a_warning_for_the_metrics(patient: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        page, metrics = one.getsockname()[1], other.getsockname()[1]
        settings = f"[web]\nport = {page}\n[metrics]\nport = {metrics}\n"
        found = await patient.look("web", "metrics", settings=settings)
    assert f"127.0.0.1:{page} is in use" in found["web.port"].what
    assert f"127.0.0.1:{metrics} is in use" in found["metrics.port"].what
    assert (found["web.port"].level, found["metrics.port"].level) == (Level.ERROR, Level.WARNING)


async def test_the_port_of_our_own_process_is_no_trouble(patient: Patient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, holding(patient.data):
        found = await patient.look("web", settings=f"[web]\nport = {taken.getsockname()[1]}\n")
    assert found["web.port"].level is Level.OK


async def test_a_page_that_others_can_reach_is_told(patient: Patient) -> None:
    found = await patient.look("web", settings='[web]\nhost = "0.0.0.0"\nport = 0\n')
    assert found["web.port"].level is Level.WARNING


async def test_notifications_without_their_library_are_told(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = '[web]\nport = 0\n[push]\nenabled = true\nsubject = "mailto:ops@example.org"\n'
    monkeypatch.setattr(web_check, "is_library_here", lambda: True)
    assert "web.push" not in await patient.look("web", settings=settings)
    monkeypatch.setattr(web_check, "is_library_here", lambda: False)
    found = await patient.look("web", settings=settings)
    assert found["web.push"].level is Level.WARNING
    assert "signalbox-bot[push]" in found["web.push"].fix
    assert "web.push" not in await patient.look("web", settings="[web]\nport = 0\n")


# ------------------------------------------------------------------------------------------------------ those who watch


@asynccontextmanager
async def answering(text: str) -> AsyncIterator[int]:
    """Somebody on a port."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=text)

    app = web.Application()
    app.router.add_get("/metrics", answer)
    server = TestServer(app)
    async with server:
        assert server.port is not None
        yield server.port


async def test_metrics_that_the_running_process_serves_are_fine(patient: Patient) -> None:
    async with answering('signalbox_build_info{version="1"} 1.0') as port:
        with holding(patient.data):
            found = await patient.look("metrics", settings=f"[metrics]\nport = {port}\n")
    assert found["metrics"].level is Level.OK


@pytest.mark.parametrize("text", ["node_exporter_build_info 1", ""])
async def test_a_metrics_port_that_another_program_answers_on_is_told(patient: Patient, text: str) -> None:
    async with answering(text) as port:
        with holding(patient.data):
            found = await patient.look("metrics", settings=f"[metrics]\nport = {port}\n")
    assert "is not served by process" in found["metrics.port"].what
    assert found["metrics.port"].level is Level.WARNING


@pytest.mark.parametrize("where", ['[web]\nhost = "0.0.0.0"', '[web]\nhosts = ["bot.example.org"]'])
async def test_metrics_that_nobody_may_read_are_told(patient: Patient, where: str) -> None:
    found = await patient.look("metrics", settings=f"{where}\n")
    assert found["metrics.token"].level is Level.WARNING
    found = await patient.look("metrics", settings=f'{where}\n[metrics]\ntoken = "tell-nobody-of-this"\n')
    assert found["metrics"].level is Level.OK


async def test_metrics_that_are_off_are_no_trouble(patient: Patient) -> None:
    found = await patient.look("metrics", settings="[metrics]\nenabled = false\nport = 1\n")
    assert found["metrics"].level is Level.OK


async def test_a_collector_that_answers_and_one_that_does_not(patient: Patient) -> None:
    async with collecting() as collector:
        settings = f'[telemetry]\nendpoint = "{collector.url}"\n'
        assert (await patient.look("telemetry", settings=settings))["telemetry.endpoint"].level is Level.OK
    found = await patient.look("telemetry", settings=settings)
    assert found["telemetry.endpoint"].level is Level.WARNING
    assert "can't be reached" in found["telemetry.endpoint"].what
    assert await patient.look("telemetry") == {}


async def test_traces_without_their_extra_are_a_fault(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "is_installed", lambda: False)
    found = await patient.look("telemetry", settings='[telemetry]\nendpoint = "http://127.0.0.1:4318"\n')
    assert found["telemetry.endpoint"].level is Level.ERROR
    assert found["telemetry.endpoint"].fix == 'pip install "signalbox-bot[otel]"'


# ------------------------------------------------------------------------------------------------------------- the model


def model_at(url: str) -> str:
    return f'[model]\nname = "openai/mock"\napi_base = "{url}"\n'


async def test_the_model_is_asked_only_where_that_is_wanted(patient: Patient) -> None:
    fake = OpenAI([Reply("ready")])
    async with TestServer(fake.app()) as server:
        settings = model_at(str(server.make_url("/v1")))
        found = await patient.look("model", settings=settings, variables={"OPENAI_API_KEY": "sk-1"})
        assert found["model.reachable"].level is Level.OK
        assert fake.requests == []
        found = await patient.look("model", settings=settings, live=True, variables={"OPENAI_API_KEY": "sk-1"})
    assert found["model.answers"].level is Level.OK
    assert found["model.key"].what == "its key comes from OPENAI_API_KEY"
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('api_key_envs = ["KEY_1", "KEY_2"]', "its key comes from KEY_1, KEY_2"),
        ('api_key_env = "KEY_1"', "its key comes from KEY_1"),
    ],
)
async def test_a_model_by_its_alias_is_looked_at_with_the_keys_of_it(patient: Patient, keys: str, told: str) -> None:
    fake = OpenAI([Reply("ready")])
    async with TestServer(fake.app()) as server:
        alias = f'[[models]]\nname = "mine"\nmodel = "openai/mock"\napi_base = "{server.make_url("/v1")}"\n{keys}\n'
        given = {"KEY_1": "sk-1", "KEY_2": "sk-2"}
        found = await patient.look("model", settings=f'[model]\nname = "mine"\n{alias}', live=True, variables=given)
    assert found["model.answers"].level is Level.OK
    assert (found["model.key"].what, fake.keys) == (told, ["Bearer sk-1"])


async def test_a_model_that_refuses_is_told_with_what_to_do(patient: Patient) -> None:
    async with TestServer(OpenAI([Reply("no", status=401)]).app()) as server:
        settings = model_at(str(server.make_url("/v1")))
        found = await patient.look("model", settings=settings, live=True, variables={"OPENAI_API_KEY": "sk-1"})
    assert "refused the key (401)" in found["model.answers"].what
    assert "Make a new key" in found["model.answers"].fix


async def test_a_server_that_is_away_is_told(patient: Patient) -> None:
    found = await patient.look("model", settings=model_at("http://127.0.0.1:1/v1"))
    assert found["model.reachable"].level is Level.ERROR
    assert "127.0.0.1:1 can't be reached" in found["model.reachable"].what


async def test_each_further_model_has_a_line(patient: Patient) -> None:
    async with serving(OpenAI(models=["phi4"]).app()) as url:
        tables = (
            f'[[models]]\nname = "small"\nmodel = "openai/phi4"\napi_base = "{url}/v1"\n'
            f'[[models]]\nname = "other"\nmodel = "openai/llama3"\napi_base = "{url}/v1"\n'
            '[[models]]\nname = "sonnet"\nmodel = "anthropic/claude-sonnet-4-5"\n'
        )
        settings = f"{model_at(f'{url}/v1').replace('mock', 'phi4')}{tables}"
        found = await patient.look("model", settings=settings, variables={"OPENAI_API_KEY": "sk-1"})
    assert found["models.small"].level is found["model.reachable"].level is Level.OK
    assert found["models.small"].what.startswith("openai/phi4")
    assert found["models.other"].level is Level.ERROR
    assert f"The server at {url}/v1 has no model llama3. It has: phi4." in found["models.other"].what
    assert (found["models.sonnet"].level, found["models.sonnet"].fix) == (
        Level.ERROR,
        "signalbox secrets set ANTHROPIC_API_KEY",
    )


async def test_a_missing_key_is_told_with_the_command(patient: Patient) -> None:
    found = await patient.look("model", settings='[model]\nname = "lm_studio/x"\n')
    assert found["model.key"].level is Level.OK
    found = await patient.look("settings", settings='[model]\nname = "openai/x"\n')
    assert "signalbox secrets set OPENAI_API_KEY" in found["settings.valid"].what
