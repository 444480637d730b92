"""Tools of packages and the page about plugins: its examples run, and what can't be used is told and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.doctor.services.plugins import check_plugins
from bot.doctor.subject import Subject
from bot.plugins.packages import broken_tools, tools_named
from bot.settings.settings import load
from bot.telemetry import logs
from runtime.contract import RunId, SessionKey, ToolContext
from runtime.errors import ConfigError
from tests.unit.test_docs import DOCS, blocks
from tools.plugins.loading import tools_in
from tools.plugins.reading import files_in

PAGE: Final = DOCS / "plugins.md"
WHERE: Final = ToolContext(Path(), SessionKey(""), RunId(""), "")
FAILS: Final = "from signalbox.tools import ToolPlugin\n\n\ndef make(table):\n    raise OSError('no printer')\n\n\nX = ToolPlugin(make)\n"


def packaged(folder: Path, name: str, module: str, text: str, *entries: str) -> None:
    """An installed package, as pip leaves it."""
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("\n".join(["[signalbox.tools]", *entries, ""]), encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The files of the page."""
    for block in blocks(PAGE):
        for name in (mark.removeprefix("file=") for mark in block.marks if mark.startswith("file=")):
            file = tmp_path / name
            file.parent.mkdir(mode=0o755, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            file.chmod(0o644)
    return tmp_path


async def test_the_file_of_the_page_is_a_tool(written: Path) -> None:
    [file] = files_in(written / "tools.d")
    assert file.fault == ""
    assert await tools_in(file.path)["roll"].call({"sides": 2}, WHERE) in ("1", "2")


async def test_the_package_of_the_page_is_a_tool_with_settings(site: Path, written: Path) -> None:
    packaged(
        site, "acme-greeter", "acme_greeter", (written / "greeter/greeter.py").read_text(), "greet = acme_greeter:GREET"
    )
    made = tools_named(["greet"], {"greet": {"word": "Good morning"}})
    assert await made["greet"].call({"name": "Ada"}, WHERE) == "Good morning, Ada!"
    faults = broken_tools(["greet"], {"greet": {"wort": "Hi"}})
    assert "acme-greeter" in faults["greet"]
    assert "wort" in faults["greet"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "import nothing_like_this\n",
            "it cannot be loaded (ModuleNotFoundError: No module named 'nothing_like_this')",
        ),
        (FAILS, "it fails to make the tool (OSError: no printer)"),
        (
            FAILS.replace("(make)", "(make, interface=9)"),
            "it is written for version 9 of the tool interface, and this Signalbox has 1",
        ),
        ("X = 3\n", "it provides no tool with that name"),
    ],
    ids=["import", "make", "version", "none"],
)
async def test_a_package_that_cannot_be_used_is_left_out_and_told(
    site: Path, tmp_path: Path, text: str, why: str, request: pytest.FixtureRequest
) -> None:
    module = f"acme_broken_{request.node.callspec.id}"
    packaged(site, "acme-broken", module, text, f"printer = {module}:X")
    assert tools_named(["printer"], {}) == {}
    assert why in broken_tools(["printer"], {})["printer"]
    (tmp_path / "signalbox.toml").write_text('[tools]\ninstalled = ["printer"]\n', encoding="utf-8")
    [finding] = await check_plugins(Subject(load(folder=tmp_path, environ={}), None, None, None, False))
    assert why in finding.what
    assert "acme-broken" in finding.what


def test_two_packages_with_one_name_are_both_named(site: Path) -> None:
    packaged(site, "acme-one", "acme_one", FAILS, "printer = acme_one:X")
    packaged(site, "acme-two", "acme_two", FAILS, "printer = acme_two:X")
    with pytest.raises(ConfigError, match="acme-one and acme-two both provide the tool printer"):
        tools_named(["printer"], {})


def test_commands_list_show_and_check_files(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)  # it would hold for all later tests of this process
    (written / "signalbox.toml").write_text("[tools]\ntrusted = true\n", encoding="utf-8")
    (written / "tools.d" / "broken.py").write_text("def broken(:\n", encoding="utf-8")
    (written / "tools.d" / "broken.py").chmod(0o644)

    def told(*words: str) -> tuple[int, str]:
        ended = CliRunner().invoke(cli, ["--config", str(written / "signalbox.toml"), "tools", *words])
        return ended.exit_code, ended.output

    code, listed = told("list")
    assert code == 0
    assert any(line.split()[:3] == ["roll", "read", "tools.d/dice.py"] for line in listed.splitlines())
    assert any(line.split()[:3] == ["shell", "danger", "Signalbox"] for line in listed.splitlines())
    code, shown = told("show", "roll")
    assert (code, "effect: read; may be repeated" in shown, "bounds: 60 s" in shown) == (0, True, True)
    (written / "tools.d" / "dice.py").write_text(
        "import nothing_like_this\n" + (written / "tools.d" / "dice.py").read_text()
    )
    assert (
        "can't be used: dice.py:1: ModuleNotFoundError: No module named 'nothing_like_this'" in told("show", "roll")[1]
    )
    code, checked = told("check")
    assert code == 1
    assert "broken.py:1: invalid syntax" in checked
    assert told("show", "rol")[0] == 2
