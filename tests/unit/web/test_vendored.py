"""Scripts of others that the page brings along: what is said of them is true, and their licences are allowed ones."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Final

import pytest

import tests.e2e
from adapters.web import pages
from bot.console.layout import PLACES
from tests.security.supply.licences import ALLOWED
from tests.unit.web.stage import served

FOLDER: Final = Path(pages.__file__).parent / "page" / "vendor"
FOR_TESTS: Final = Path(tests.e2e.__file__).parent / "vendor"
TOLD: Final = tomllib.loads((FOLDER / "vendored.toml").read_text())


def test_every_library_is_told_and_nothing_else_lies_there() -> None:
    assert tuple(TOLD) == pages.LIBRARIES
    known = {"vendored.toml", *TOLD, *(one["text"] for one in TOLD.values())}
    assert {file.name for file in FOLDER.iterdir()} == known


def test_a_script_that_tests_alone_bring_along_is_as_published_and_in_no_package_of_ours() -> None:
    [(name, told)] = tomllib.loads((FOR_TESTS / "vendored.toml").read_text()).items()
    script = (FOR_TESTS / name).read_bytes()
    assert hashlib.sha256(script).hexdigest() == told["sha256"]
    assert f"v{told['version']}".encode() in script[:100]
    assert {file.name for file in FOR_TESTS.iterdir()} == {"vendored.toml", name, told["text"], told["parts"]}
    assert told["licence"] == "MPL-2.0", "used as it is, by tests alone"
    assert "Mozilla Public License, version 2.0" in (FOR_TESTS / told["text"]).read_text()


@pytest.mark.parametrize("name", TOLD)
def test_it_is_what_its_makers_publish_under_an_allowed_licence(name: str) -> None:
    told = TOLD[name]
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == told["sha256"]
    assert told["licence"] in ALLOWED
    assert "opyright" in (FOLDER / told["text"]).read_text()


async def test_it_is_read_when_it_is_first_wanted_and_packed(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client() as client:
        for name in pages.LIBRARIES:
            async with client.get(f"/static/{name}") as answer:
                assert (answer.status, answer.content_type) == (200, "text/javascript")
                assert answer.headers["Content-Encoding"] == "gzip"
                assert await answer.read() == (FOLDER / name).read_bytes()
            async with client.get(f"/static/{name}", headers={"Accept-Encoding": "identity"}) as answer:
                assert "Content-Encoding" not in answer.headers
        async with client.get("/static/vendored.toml") as answer:
            assert answer.status == 404


def test_the_places_of_the_console_that_the_page_goes_to_are_those_there_are() -> None:
    said = (FOLDER.parent / "words.js").read_text()
    assert [address for address, _ in PLACES if f'["{address}", ' not in said] == []
