"""`signalbox guard scan`: old rows are told and cleaned beside a running process."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.unit.bot.cli.test_cli import house, signalbox
from tests.unit.guard.secrets import SECRETS

__all__ = ["house"]

NAME, SECRET = SECRETS["github"]


def test_an_old_row_is_told_and_cleaned_beside_a_running_process(house: Path) -> None:
    signalbox(house, "ask", "hello orchid")
    clean = signalbox(house, "guard", "scan")
    assert (clean.returncode, clean.stdout) == (0, "Nothing found.\n")
    with closing(sqlite3.connect(house / "var" / "signalbox.db")) as database, database:
        database.execute("UPDATE signals SET text = replace(text, 'orchid', ?)", [SECRET])

    found = signalbox(house, "guard", "scan")
    assert found.returncode == 1
    assert "signals.text" in found.stdout
    assert f"{NAME} ·" in found.stdout
    assert SECRET not in found.stdout + found.stderr
    assert "signalbox guard scan --redact" in found.stderr

    refused = signalbox(house, "guard", "scan", "--redact")
    assert refused.returncode == 2
    assert "Add --yes to do it." in refused.stderr

    done = signalbox(house, "guard", "scan", "--redact", "--yes", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["redacted"], told["left"]) == (0, 1, 0)
    [row] = told["findings"]
    assert (row["table"], row["column"], row["rows"], row["stays"]) == ("signals", "text", 1, "")
    assert signalbox(house, "guard", "scan").returncode == 0
    with closing(sqlite3.connect(house / "var" / "signalbox.db")) as database:
        [(actor, detail)] = database.execute(
            "SELECT actor, detail FROM audit WHERE kind = 'leak guard scan'"
        ).fetchall()
    assert actor.startswith("command line of ")
    assert detail.endswith(" rows looked at, 1 redacted, 0 left as they were")
