"""`[[databases]]`: addresses, secrets and faults of the settings, and what doctor says of each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.doctor.services.databases import check_databases
from bot.doctor.subject import Subject
from bot.settings.secrets import uses
from bot.settings.settings import Settings, load
from bot.wiring.tools.databases import database_of, query_tools
from runtime.contract import Level
from runtime.errors import ConfigError
from tests.fakes.postgres import Postgres

URL = "postgresql://reader:of%20the-reader@db.example.org/sales"


def of(folder: Path, *tables: str, **variables: str) -> Settings:
    text = "\n".join(f"[[databases]]\n{table}" for table in tables)
    (folder / "signalbox.toml").write_text(text, encoding="utf-8")
    return load(folder=folder, environ=variables)


def test_there_is_no_tool_without_a_database(tmp_path: Path) -> None:
    assert query_tools(of(tmp_path), str) == {}
    assert list(query_tools(of(tmp_path, 'name = "sales"\nurl = "sqlite:///sales.db"'), str)) == ["query"]


def test_a_file_is_beside_the_settings(tmp_path: Path) -> None:
    [table] = of(tmp_path, 'name = "sales"\nurl = "sqlite:///data/sales.db"').databases
    assert table.address == f"sqlite:///{tmp_path}/data/sales.db"
    assert (table.max_rows, table.seconds) == (1_000, 10)


def test_an_address_comes_from_a_variable_and_neither_it_nor_its_password_is_shown(tmp_path: Path) -> None:
    settings = of(tmp_path, 'name = "sales"\nurl_env = "SALES_URL"', SALES_URL=URL)
    [table] = settings.databases
    assert table.address == URL
    assert "the-reader" not in f"{settings!r} {table!r} {database_of(table)!r}"
    assert {use.value for use in uses(settings, {}) if use.name.startswith("databases")} == {
        URL,
        "of the-reader",
        "of%20the-reader",
    }


def test_an_address_without_a_password_is_no_secret(tmp_path: Path) -> None:
    settings = of(tmp_path, 'name = "sales"\nurl = "sqlite:///sales.db"', 'name = "own"\nurl = "postgresql://db/sales"')
    assert [use for use in uses(settings, {}) if use.name.startswith("databases")] == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('name = "sales"', "is missing; set it, or url_env to the variable"),
        ('name = "sales"\nurl = "mysql://x/y"', "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"),
        ('name = "sales"\nurl = "sqlite:///"', "sqlite:///FILE or postgresql"),
        ('name = "sales"\nurl_env = "SALES_URL"', "the variable SALES_URL is not set"),
        ('name = "sales"\nurl = "sqlite:///a"\nmax_rows = 0', "max_rows"),
        ('name = "sales"\nurl = "sqlite:///a"\nseconds = 3600', "seconds"),
        ('name = "sales"\nurl = "sqlite:///a"\nagents = ["mian"]', "names no agent; did you mean main"),
        (
            'name = "sales"\nurl = "sqlite:///a"\n[[databases]]\nname = "sales"\nurl = "sqlite:///b"',
            "give each database its own",
        ),
    ],
)
def test_faults_are_told_with_what_to_do(tmp_path: Path, table: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        of(tmp_path, table)
    assert words in str(caught.value)


async def test_doctor_says_of_each_that_it_answers_and_is_only_read(tmp_path: Path, postgres: Postgres) -> None:
    with closing(sqlite3.connect(tmp_path / "sales.db")) as made:
        made.execute("CREATE TABLE orders (a, b)")
    settings = of(
        tmp_path,
        'name = "sales"\nurl = "sqlite:///sales.db"',
        'name = "gone"\nurl = "sqlite:///gone.db"',
        'name = "own"\nurl_env = "OWN_URL"',
        OWN_URL=postgres.url,
    )
    found = {one.id: one for one in await check_databases(Subject(settings, None, None, None))}
    assert found["databases.sales"].level is Level.OK
    assert found["databases.sales"].what == "sales: it answers, can only be read, and shows 2 columns"
    assert found["databases.gone"].level is Level.ERROR
    assert "isn't there" in found["databases.gone"].what
    assert "superuser" in found["databases.own"].what
    assert "pg_read_all_data" in found["databases.own"].fix
    assert await check_databases(Subject(of(tmp_path), None, None, None)) == []
