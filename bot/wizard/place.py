"""The steps of data, the first person and the page."""

from __future__ import annotations

import getpass
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Final
from urllib.parse import urlsplit

from bot.wizard.dialogue import Dialogue
from bot.wizard.draft import Draft, Kept
from runtime.errors import ConfigError, StoreError
from runtime.text.naming import fault_of_name

LITTLE: Final = 1 << 30  # bytes
PORT: Final = 8080
DATABASE: Final = "DATABASE_URL"
EMBEDDED: Final = "built-in"
CHOICES: Final = {
    "again": "give another address",
    "none": "use the built-in database",
    "keep": "keep it as it is, and fix it later",
}


def ask_place(draft: Draft, dialogue: Dialogue) -> None:
    """The folder, and which database."""
    while True:
        given = draft.flags.data_dir or dialogue.ask("Folder for the data", "var")
        draft.settings.pop("data_dir", None)
        if given != "var":
            draft.set("data_dir", given, "database, workspaces, sealed secrets")
        fault = folder_fault(draft.data_dir)
        if fault is None:
            break
        if draft.flags.data_dir is not None:
            raise ConfigError(f"--data-dir: {fault}")
        dialogue.say(fault)
    free = shutil.disk_usage(_nearest(draft.data_dir)).free
    little = " That isn't much: once the disk is full, everything stops." if free < LITTLE else ""
    dialogue.say(f"{draft.data_dir}, {free / (1 << 30):.1f} GiB free.{little}")
    _ask_database(draft, dialogue)


def folder_fault(folder: Path) -> str | None:
    """The reason the data cannot be kept in `folder`; None if it can."""
    place = _nearest(folder)
    if not place.is_dir():
        return f"{place} isn't a folder."
    try:
        Path(mkdtemp(prefix=".signalbox-", dir=place)).rmdir()  # rights alone say nothing of /proc, or of a full disk
    except PermissionError:
        return f"You can't write to {place}."
    except OSError as error:
        return f"No folder can be made in {place}: {error.strerror}."
    return None


def _nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _ask_database(draft: Draft, dialogue: Dialogue) -> None:
    while True:
        url = draft.flags.database_url
        if url is None:
            url = _asked_database(dialogue)
        if not url or url.startswith("sqlite:///"):
            _note_database(draft, url)
            return
        try:
            dialogue.say(dialogue.wait("Asking the database", _server_of(url)))
        except StoreError as error:
            choice = dialogue.choose(str(error), CHOICES)
            if choice == "again":
                draft.flags = replace(draft.flags, database_url=None)
                continue
            url = "" if choice == "none" else url
        _note_database(draft, url)
        return


def _asked_database(dialogue: Dialogue) -> str:
    """The address, empty for the built-in one."""
    while True:
        match dialogue.ask('Database ("postgresql" asks for its address)', EMBEDDED).lower():
            case "built-in":
                return ""
            case "postgresql" | "postgres":
                return dialogue.secret("postgresql://USER:PASSWORD@HOST/NAME (not shown)")
            case _:
                dialogue.say(f'Please type "{EMBEDDED}" or "postgresql"; the address comes after that.')


def _note_database(draft: Draft, url: str) -> None:
    """An address with a password is sealed; one without is a setting."""
    if url and urlsplit(url).password:
        draft.secrets[DATABASE] = Kept(url, "database_url")
        draft.set("database_url_env", DATABASE, "it is sealed: signalbox secrets list")
    elif url:
        draft.set("database_url", url)


async def _server_of(url: str) -> str:
    """Kind of server that answers. Errors: StoreError in words, within seconds."""
    if not url.startswith("postgresql://"):
        raise StoreError("A database address begins with postgresql:// or sqlite:///.")
    from runtime.store.sql.postgres import open_pool

    pool = await open_pool(url)
    try:
        return f"PostgreSQL {await pool.fetchval('SHOW server_version')} answers."
    finally:
        await pool.close()


def ask_owner(draft: Draft, dialogue: Dialogue) -> None:
    """The first person, who owns everything. A database that is there has its people."""
    if draft.database_url.startswith("sqlite:///") and Path(draft.database_url.removeprefix("sqlite:///")).exists():
        dialogue.say("There is a database already. Its people stay as they are.")
        return
    draft.owner = (draft.flags.owner or dialogue.ask("Your name, as others will see it", _login())).strip()
    if fault := fault_of_name(draft.owner):
        raise ConfigError(f"--owner: {fault}")


def _login() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without an entry, as in containers
        return "owner"
    return "owner" if name == "root" else name


def ask_port(draft: Draft, dialogue: Dialogue) -> None:
    """Ask for the page's port, on this machine alone."""
    while True:
        given = draft.flags.port
        said = str(given) if given is not None else dialogue.ask("Port of the web page", str(PORT))
        fault = _port_fault(said)
        if fault is None:
            break
        if given is not None:
            raise ConfigError(f"--port: {fault}")
        dialogue.say(fault)
    if int(said) and _is_taken(int(said)):
        dialogue.say(f"Another program listens on port {said} now: stop it before the start, or choose another port.")
    if int(said) != PORT:
        draft.set("web.port", int(said))


def _port_fault(said: str) -> str | None:
    return None if said.isdecimal() and int(said) <= 65535 else "A port is a number up to 65535; 0 picks a free one."


def _is_taken(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return True
    return False
