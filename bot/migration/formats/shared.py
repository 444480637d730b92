"""Parts of a home that several bots have in the same form."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.migration.formats.clocks import NoTime
from bot.migration.formats.notes import is_unfilled, sentences
from bot.migration.formats.values import IDS, NO_WORKSPACE
from bot.migration.found import Found, FoundAccount, FoundMemory, FoundPerson, FoundSkillFolder, Item
from bot.migration.home import Home, is_folder
from bot.plugins.channels import is_brought
from runtime.text.glyphs import visible

SKILL_FILE = "SKILL.md"
GUIDES = {"email": "docs/email.md", "matrix": "docs/channels/matrix.md"}
"""Channels that come with packages of this repository."""
UNFILLED = "it is a form that nobody filled in"
SECRETS_ARE_ELSEWHERE = "its secrets aren't in the folder itself"


def add_person(found: Found, channel: str, given: str, name: str = "", *, was_admin: bool = False) -> None:
    """One entry of an allow-list; what names nobody is left with its reason."""
    told = f"{channel}:{visible(given)}"
    if given == "*":
        found.leave(
            *(Item.PEOPLE, told, "everybody was let in there; here strangers are asked about"),
            'To let everybody in: signalbox config set access.default "allow"',
        )
        return
    bare = given.split("|")[0].rpartition(":")[2].strip()
    pattern = IDS.get(channel)
    if pattern is None:
        why, fix = strange_channel(channel)
        found.leave(Item.PEOPLE, told, why, fix and f"signalbox people add NAME --identity {channel}:{visible(bare)}")
    elif not pattern.fullmatch(bare):
        found.leave(
            Item.PEOPLE, told, "that is no id of an account there", "They get a pairing code when they write first."
        )
    elif channel == "slack":
        found.leave(
            *(Item.PEOPLE, told, NO_WORKSPACE),
            f"signalbox people add NAME --identity slack:TEAM/{bare}, or let them in when they write first.",
        )
    elif not any(one.channel == channel and one.identity == f"{channel}:{bare}" for one in found.people):
        found.people.append(FoundPerson(channel, f"{channel}:{bare}", name, was_admin))


def strange_channel(channel: str) -> tuple[str, str]:
    """The reason for which a channel that isn't built in isn't taken over, and what to do."""
    shown, name = visible(channel), channel.lower()
    guide = GUIDES.get(name, "")
    if is_brought(name):
        by = f"see {guide}" if guide else "as its package says"
        return (
            f"{shown} comes with a package here, whose accounts aren't taken over",
            f"Write its account by hand, {by}.",
        )
    if guide:
        return f"the package with {shown} isn't installed", f"Install it, and write its account by hand, see {guide}."
    return f"there is no channel {shown} here", ""


def leave_channel(found: Found, channel: str, called: str = "") -> None:
    why, fix = strange_channel(channel)
    found.leave(Item.ACCOUNTS, visible(called or channel), why, fix)


def add_skills(home: Home, found: Found, folder: str, *, depth: int = 1) -> None:
    """Folders with a SKILL.md, down to `depth` levels."""
    for name in home.names(folder):
        path = f"{folder}/{name}"
        if not is_folder(home, path):
            if not name.startswith(".") and home.has(path) and (home.root / path).is_symlink():
                found.leave(Item.SKILLS, path, "it is a link, and links aren't followed")
        elif home.has(f"{path}/{SKILL_FILE}"):
            found.skills.append(FoundSkillFolder(name, path))
        elif depth > 1 and not name.startswith("."):
            add_skills(home, found, path, depth=depth - 1)


def add_prompt(home: Home, found: Found, folder: str, *names: str) -> None:
    """Files that say who the agent is and how it works."""
    for name in names:
        text = home.optional(f"{folder}/{name}".lstrip("/")).strip()
        if text and is_unfilled(text):
            found.leave(Item.PROMPT, name, UNFILLED)
        elif text:
            found.prompt[name] = text


def add_notes(home: Home, found: Found, *paths: str) -> None:
    """Sentences of memory files."""
    for path in paths:
        found.memories += sentences(home.optional(path), path)


def add_profile(home: Home, found: Found, path: str, read: Callable[[str, str], Iterable[FoundMemory]]) -> None:
    """Sentences on a person; a form that nobody filled in is left."""
    text = home.optional(path)
    taken = [*read(text, path)]
    found.memories += taken
    if text.strip() and not taken:
        found.leave(Item.MEMORY, path, UNFILLED)


def leave_files(home: Home, found: Found, folder: str, **files: str) -> None:
    """Files that are there and stay, each with the reason."""
    for name, why in files.items():
        path = f"{folder}/{name}.md".lstrip("/")
        if home.has(path):
            found.leave(Item.PROMPT, f"{name}.md", why)


def add_account(
    found: Found, account: FoundAccount, needed: tuple[str, ...], *, told: str = SECRETS_ARE_ELSEWHERE
) -> None:
    """An account with its secrets; one whose secrets aren't there is left."""
    missing = [name for name in needed if not account.secrets.get(name)]
    if not missing:
        found.accounts.append(account)
    elif account.enabled:
        found.leave(
            *(Item.ACCOUNTS, f"{account.channel}:{account.name}", f"{told}: {', '.join(missing)}"),
            f"signalbox init {account.channel} sets it up.",
        )


def timed(found: Found, name: str, make: Callable[[], str]) -> str:
    """The words of a schedule; empty where there are none, which is noted."""
    try:
        return make()
    except NoTime as error:
        found.leave(Item.SCHEDULES, name, str(error))
        return ""


def destination(found: Found, name: str, channel: str, room: str, account: str = "") -> tuple[str, str, str] | None:
    """The room of a report, at an account that is taken over; None where there is none, which is noted."""
    from bot.migration.formats.values import room_id

    accounts = [one for one in found.accounts if one.channel == channel and account in ("", one.name)]
    place = room_id(channel, room)
    if not accounts:
        found.leave(
            Item.SCHEDULES, name, f"its reports go to {channel or 'no channel'}, where no account is taken over"
        )
    elif not place:
        found.leave(Item.SCHEDULES, name, f"its reports go to no room by its id ({visible(room) or 'none'})")
    else:
        return channel, accounts[0].name, place
    return None
