"""The wheel of this folder, installed beside what it needs."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.packaging.environment import ROOT, lend, run, site_of
from tests.packaging.image import Image, make


@dataclass(frozen=True)
class Installed:
    """`home` is what an operator would have as /opt/signalbox."""

    wheel: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.home / "bin" / "python"

    @property
    def signalbox(self) -> Path:
        return self.home / "bin" / "signalbox"

    @property
    def site(self) -> Path:
        return site_of(self.home)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("packaging")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    home = folder / "home"
    made = run(sys.executable, "-m", "venv", "--without-pip", home, folder=folder)
    assert made.returncode == 0, made.stderr
    lend(home)
    put = run(sys.executable, "-m", "pip", "--python", home, "install", "--no-deps", wheel, folder=folder)
    assert put.returncode == 0, put.stderr
    return Installed(Path(wheel), home)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return make(tmp_path_factory.mktemp("image"))


@pytest.fixture
def image(built: Image) -> Image:
    """A container of it, with nothing in its volumes yet."""
    for place in (built.data, built.root / "run" / "secrets", built.root / "etc"):
        shutil.rmtree(place)
        place.mkdir()
    return built
