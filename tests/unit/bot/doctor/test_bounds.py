"""doctor tells which bound of cgroup v2 holds for all tools together."""

from __future__ import annotations

from pathlib import Path

from bot.doctor.machine.sandbox import sum_bounds


def groups(folder: Path, **files: str) -> tuple[Path, Path]:
    """A process in /unit/main of a cgroup v2 hierarchy with these files."""
    (folder / "groups/unit/main").mkdir(parents=True)
    (folder / "groups/cgroup.controllers").write_text("memory pids")
    for name, text in files.items():
        (folder / "groups" / name.replace("__", "/").replace("_", ".")).write_text(text)
    own = folder / "cgroup"
    own.write_text("0::/unit/main\n")
    return own, folder / "groups"


def test_the_nearest_bound_is_told(tmp_path: Path) -> None:
    given = groups(tmp_path, unit__main__memory_max="max", unit__memory_max="2147483648\n", unit__main__pids_max="100")
    assert dict(sum_bounds(*given)) == {"memory.max": "2147483648", "pids.max": "100"}


def test_without_a_bound_none_is_told(tmp_path: Path) -> None:
    assert dict(sum_bounds(*groups(tmp_path, unit__memory_max="max"))) == {}


def test_the_older_control_groups_tell_none(tmp_path: Path) -> None:
    own = tmp_path / "cgroup"
    own.write_text("3:memory:/docker/1\n0::/\n")
    assert dict(sum_bounds(own, tmp_path)) == {}
    assert dict(sum_bounds(tmp_path / "none", tmp_path)) == {}
