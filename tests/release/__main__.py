"""`python -m tests.release VERSION [--dry]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.release.steps import Release, Say, Unreleasable, check_clean, image, make, take_over

ROOT = Path(__file__).parents[2]


def run(release: Release, say: Say, *, dry: bool) -> None:
    """Make a release. Errors: Unreleasable; then the project is as it was."""
    if not dry:
        check_clean(release)
    with TemporaryDirectory(prefix="signalbox-release-") as folder:
        made = make(release, Path(folder), say)
        image(release, made.copy, say, dry=dry)
        if dry:
            say("This was a dry run: nothing has changed.")
            return
        take_over(release, made)
    say("The files are in dist/. What is left to you:")
    say(f'  git commit --all --message "Signalbox {release.version}"')
    say(f"  git tag --annotate v{release.version} --message v{release.version}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make release", description="Makes a release of what is committed.")
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--dry", action="store_true", help="do it in a copy, and change nothing")
    given = parser.parse_args()
    try:
        run(Release(root=ROOT, version=given.version), lambda line: print(line, flush=True), dry=given.dry)  # noqa: T201
    except Unreleasable as error:
        sys.exit(f"make release: {error}")


if __name__ == "__main__":
    main()
