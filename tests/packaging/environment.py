"""Virtual environments that hold what requirements.lock names and nothing else: no test tool, and not this folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SPAN: Final = 120  # seconds for anything that is run here: the machine may be busy with other tests


def site_of(environment: Path) -> Path:
    """Where its packages are."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(environment), "platbase": str(environment)}))


def lend(environment: Path) -> None:
    """Give `environment` the locked packages, as links to those that are installed here."""
    site = site_of(environment)
    for name in re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE):
        try:
            found = distribution(name)
        except PackageNotFoundError:  # for another system; `pip check` says if one is missing
            continue
        for entry in _entries(found):
            target = Path(str(found.locate_file(entry)))
            if target.exists() and not (site / entry).exists():
                (site / entry).symlink_to(target)


def run(
    *command: str | Path, folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`command` to its end, with nothing of our own variables, and no way to a package index."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=bare(folder, **(variables or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SPAN,
        check=False,
    )


def bare(folder: Path, **variables: str) -> dict[str, str]:
    """The variables of a service: hardly any."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    nowhere = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "COLUMNS": "200", **nowhere, **variables}


def documented(first: str) -> str:
    """The script of docs/install.md that begins with the line `first`."""
    found = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE | re.DOTALL)
    (script,) = [text for text in found if text.splitlines()[0] == first]
    return str(script)


def _entries(found: Distribution) -> Iterator[str]:
    """Names in the folder of packages; what a wheel puts elsewhere, such as programs, is not needed."""
    tops = {file.parts[0] for file in found.files or ()}
    yield from sorted(name for name in tops if name not in ("..", "__pycache__") and not name.endswith(".pth"))
