"""The command line of git, by which a repository of others runs nothing but git itself.

No setting of the machine or of a user counts, and no hook, pager, editor, prompt, helper or transport is there to be run. A
repository's own settings can name programs in more ways than can be switched off (`filter.ANY.clean`), so one with a
setting that isn't on the list of harmless ones is left alone. Sources: git-config(1), git(1), read 2026-11.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from tools.sandbox.sandbox import PATH

NO_PROGRAM: Final = "/bin/false"
ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": PATH,
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": NO_PROGRAM,
    "SSH_ASKPASS": NO_PROGRAM,
    "GIT_SSH_COMMAND": NO_PROGRAM,
    "GIT_EDITOR": NO_PROGRAM,
    "GIT_SEQUENCE_EDITOR": NO_PROGRAM,
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
OVERRIDES: Final[Mapping[str, str]] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gpg.program": NO_PROGRAM,
    "log.showSignature": "false",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "all",
    "protocol.allow": "never",
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
    # Whose a folder is was looked at before: it is the workspace's.
    "safe.directory": "*",
}
HARMLESS: Final = re.compile(
    r"""core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol
          |safecrlf|quotepath|abbrev|compression|trustctime|checkstat|preloadindex|whitespace|commentchar)
      |extensions\.objectformat
      |user\.(name|email)
      |init\.defaultbranch
      |remote\..+\.(url|pushurl|fetch|tagopt|prune)
      |branch\..+\.(remote|merge|rebase|description)
      |submodule\..+\.(url|active|branch)
      |pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.prune|merge\.(ff|conflictstyle)
      |(color|advice|status)\..+
      |(diff|log)\.(algorithm|renames|context|date|decorate|abbrevcommit|mnemonicprefix|noprefix)""",
    re.VERBOSE | re.DOTALL,
)
"""Settings of a repository that can name no program and no other file. Their sections and keys come in small letters."""
KEYS_SHOWN: Final = 5
LIST_KEYS: Final = ("config", "--list", "--name-only", "-z")
"""Says which settings a repository has, those of included files among them."""
NO_GIT: Final = 127
"""Exit code of the shell for a program that isn't there."""


def words(*arguments: str, more: Mapping[str, str] | None = None, plain: bool = False) -> str:
    """One call of git in the repository of the working folder. `plain`: without our settings, to ask for its own."""
    variables = [f"{name}={value}" for name, value in {**ENVIRONMENT, **(more or {})}.items()]
    settings = [word for name, value in OVERRIDES.items() for word in ("-c", f"{name}={value}")]
    place = ("--git-dir=.git", "--work-tree=.", "--no-pager", "--literal-pathspecs")
    return shlex.join(["env", "-i", *variables, "git", *place, *([] if plain else settings), *arguments])


def script(folder: str, lines: Sequence[str]) -> str:
    """Lines of the shell in a folder of the workspace; the first that fails ends them."""
    return "\n".join(["set -e", f"cd -- {shlex.quote(folder)}", *lines])


def dangerous(listed: str) -> Iterator[str]:
    """Settings that may name a program or a file, of what LIST_KEYS printed."""
    yield from (key for key in dict.fromkeys(listed.split("\0")) if key.strip() and not HARMLESS.fullmatch(key))


def objection(keys: Iterable[str]) -> str:
    """A sentence on the settings for which a repository is left alone; empty where there are none."""
    found = [" ".join(key.split())[:80] for key in keys]
    if not found:
        return ""
    more = f" and {len(found) - KEYS_SHOWN} more" if len(found) > KEYS_SHOWN else ""
    return (
        f"The repository's own settings could run programs ({', '.join(found[:KEYS_SHOWN])}{more}), so git tools leave it "
        "alone. Remove them with the shell: git config --unset."
    )
