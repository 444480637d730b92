"""compose.yaml: what it says, and our service of it at work with a real PostgreSQL."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import pytest

from bot.settings.sections.operating import Nodes
from bot.settings.settings import Settings
from bot.settings.sources import names_of, variable_of
from tests.fakes.postgres import Postgres
from tests.packaging.compose_file import read, span
from tests.packaging.dockerfile import ignored
from tests.packaging.environment import ROOT, documented, run
from tests.packaging.image import FILE, IGNORED, Image
from tests.packaging.service import serving

pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.timeout(180)]

COMPOSE: Final = ROOT / "compose.yaml"
SERVICES: Final = ("signalbox", "postgres")
KEYS: Final = {  # of services, in the Compose specification; an unknown one is refused by the engine, which is not here
    "build", "cap_drop", "depends_on", "environment", "healthcheck", "image", "init", "ports", "read_only", "restart",
    "secrets", "security_opt", "stop_grace_period", "tmpfs", "user", "volumes",
}  # fmt: skip


@pytest.fixture
def compose() -> dict[str, Any]:
    return read(COMPOSE, {})


@pytest.fixture
def ours(compose: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = compose["services"]["signalbox"]
    return found


def test_each_key_is_one_of_the_specification(compose: dict[str, Any]) -> None:
    assert set(compose) <= {"name", "services", "volumes", "secrets"}
    for service in SERVICES:
        assert set(compose["services"][service]) <= KEYS


@pytest.mark.parametrize("service", SERVICES)
def test_no_container_can_change_itself_or_gain_rights(compose: dict[str, Any], service: str) -> None:
    said = compose["services"][service]
    assert said["read_only"] is True
    assert said["cap_drop"] == ["ALL"]
    assert said["security_opt"] == ["no-new-privileges:true"]
    assert said.get("user", FILE.last("USER")) not in ("root", "0")
    assert said["restart"] == "unless-stopped"


@pytest.mark.parametrize("service", SERVICES)
def test_secrets_are_files_that_stay_out_of_git_and_of_the_image(compose: dict[str, Any], service: str) -> None:
    said = compose["services"][service]
    assert said["secrets"]
    for name in said["secrets"]:
        file = compose["secrets"][name]["file"]
        assert file == f"./secrets/{name}"
        assert ignored(file.removeprefix("./"), IGNORED)
    assert "/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert not [value for name, value in said["environment"].items() if "PASSWORD" in name and "/run/" not in value]


@pytest.mark.parametrize("service", SERVICES)
def test_data_are_in_volumes_that_outlive_containers(compose: dict[str, Any], service: str) -> None:
    for volume in compose["services"][service]["volumes"]:
        assert volume.split(":")[0] in compose["volumes"]


def test_it_waits_for_the_database_and_is_given_the_time_to_drain(
    ours: dict[str, Any], compose: dict[str, Any]
) -> None:
    assert ours["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert compose["services"]["postgres"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert span(ours["stop_grace_period"]) > Nodes().shutdown
    assert ours["init"] is True


@pytest.mark.parametrize("port", ["8080", "9000"])
def test_only_this_machine_reaches_it_under_the_port_it_listens_on(port: str) -> None:
    ours = read(COMPOSE, {"SIGNALBOX_WEB__PORT": port})["services"]["signalbox"]
    assert ours["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert ours["environment"]["SIGNALBOX_WEB__PORT"] == port


def test_its_variables_are_settings_that_there_are(ours: dict[str, Any]) -> None:
    known = {variable_of(name, "SIGNALBOX_") for name in names_of(Settings)}
    assert set(ours["environment"]) <= known
    assert ours["environment"]["SIGNALBOX_DATABASE_URL_ENV"] in ours["secrets"]


def test_the_health_check_of_the_database_asks_the_one_that_is_made(
    compose: dict[str, Any], postgres: Postgres, tmp_path: Path
) -> None:
    said = compose["services"]["postgres"]
    _, program, *arguments = said["healthcheck"]["test"]
    asked = dict(argument.removeprefix("--").split("=") for argument in arguments)
    made = said["environment"]
    assert asked == {"host": "127.0.0.1", "username": made["POSTGRES_USER"], "dbname": made["POSTGRES_DB"]}
    for port, code in ((urlsplit(postgres.url).port, 0), (1, 2)):  # nobody listens on port 1
        ended = run(postgres.programs / program, *arguments, f"--port={port}", folder=tmp_path)
        assert ended.returncode == code, ended.stdout + ended.stderr


def test_the_secrets_are_made_as_the_documents_say(compose: dict[str, Any], tmp_path: Path) -> None:
    ended = run("/bin/sh", "-euc", documented("mkdir -m 0700 secrets"), folder=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    made = {f"./secrets/{path.name}": path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert set(made) == {secret["file"] for secret in compose["secrets"].values()}
    url, said = urlsplit(made["./secrets/DATABASE_URL"]), compose["services"]["postgres"]["environment"]
    assert (url.username, url.hostname, url.path) == (said["POSTGRES_USER"], "postgres", f"/{said['POSTGRES_DB']}")
    assert url.password == made["./secrets/postgres_password"]
    assert re.fullmatch(r"[0-9a-f]{48}", url.password)


async def test_our_service_works_on_its_database(ours: dict[str, Any], image: Image, postgres: Postgres) -> None:
    url = postgres.create_database()
    (image.root / "run" / "secrets" / "DATABASE_URL").write_text(f"{url}\n")
    variables = image.variables(**{**ours["environment"], "SIGNALBOX_WEB__PORT": "0"})
    with serving(image.command(), folder=image.root, data=image.data, variables=variables) as service:
        assert image.is_well()
        assert image.call("ask", "list the files").returncode == 0
        assert service.leave() == 0
        assert url not in service.log.read_text()
    assert await _count(url) == 1
    assert not (image.data / "signalbox.db").exists()


async def _count(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM signals"))
    finally:
        await connection.close()


def test_without_its_secret_it_says_which(ours: dict[str, Any], image: Image) -> None:
    ended = subprocess.run(
        image.command(),
        cwd=image.data,
        env=image.variables(**ours["environment"]),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2
    assert "the variable DATABASE_URL is not set" in ended.stderr
