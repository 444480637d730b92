"""The program as an ordinary user starts it, also where the tests run as root and Python lies in root's own folder."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.house import ROOT, RUN

UID: Final = 54321
STAGE: Final = "/mnt"  # where trees wait while what lies above them is covered; in our own namespace only


def command(folder: Path) -> list[str]:
    """How to start the program as an ordinary user who owns `folder`.

    As root that is another user, in a mount namespace where every folder above what is needed lets them through:
    a closed one is covered by an empty one that holds nothing but the way to it.
    """
    if os.geteuid() != 0:
        return [*RUN]
    give_away(folder)
    trees = [Path(sys.base_prefix), Path(sys.prefix), ROOT, folder]
    step_down = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", *RUN]
    if not any(map(closed_above, trees)):
        return step_down
    script = "\n".join(["set -eu", *covered(trees), 'exec "$@"'])
    return ["unshare", "--mount", "--propagation", "slave", "sh", "-c", script, "sh", *step_down]


def give_away(folder: Path) -> None:
    """Make `folder` and what is in it the ordinary user's, where there is another one than us."""
    if os.geteuid() == 0:
        for place in (folder, *folder.rglob("*")):
            os.chown(place, UID, UID, follow_symlinks=False)


def closed_above(tree: Path) -> list[Path]:
    """The folders above `tree` that others may not pass, topmost first."""
    return [above for above in reversed(tree.parents) if not above.stat().st_mode & stat.S_IXOTH]


def covered(trees: Sequence[Path]) -> Iterator[str]:
    """Commands that put each tree aside, cover the closed folders, and bring each tree back to its place."""
    yield f"mount -t tmpfs -o mode=755 none {STAGE}"
    for number, tree in enumerate(trees):
        yield f"mkdir {STAGE}/{number} && mount --rbind {shlex.quote(str(tree))} {STAGE}/{number}"
    tops = {closed[0] for tree in trees if (closed := closed_above(tree))}
    for top in sorted(tops):
        yield f"mount -t tmpfs -o mode=755 none {shlex.quote(str(top))}"
    for number, tree in enumerate(trees):
        if closed_above(tree):
            place = shlex.quote(str(tree))
            yield f"mkdir -p {place} && mount --rbind {STAGE}/{number} {place}"
    yield f"cd {shlex.quote(str(trees[-1]))}"
