"""The Dockerfile: what it says, and what happens when its steps and commands are run without an engine."""

from __future__ import annotations

import re
import signal

import pytest

from bot.settings.settings import Settings
from bot.settings.sources import names_of, variable_of
from tests.packaging.dockerfile import ignored
from tests.packaging.environment import ROOT
from tests.packaging.image import FILE, IGNORED, Image
from tests.packaging.service import serving

pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.timeout(180)]


def test_both_stages_have_one_base_of_one_full_version() -> None:
    (base,) = FILE.all("ARG")
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-[a-z]+", base.text)
    assert [step.words()[0] for step in FILE.all("FROM")] == ["${BASE}", "${BASE}"]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    for step in FILE.all("COPY", stage=1):
        for source in step.words()[:-1]:
            assert (ROOT / source).exists(), source
            assert not ignored(source, IGNORED), source
    assert [step.text for step in FILE.all("COPY", stage=2)] == ["--from=build /opt/signalbox /opt/signalbox"]


@pytest.mark.parametrize(
    "path",
    [
        "signalbox.toml",
        "var/signalbox.db",
        "secrets/DATABASE_URL",
        ".git/config",
        ".env",
        "bot/__pycache__/app.pyc",
        "tests/x.py",
    ],
)
def test_data_secrets_and_settings_of_this_folder_stay_out(path: str) -> None:
    assert ignored(path, IGNORED)


def test_packages_come_as_in_the_makefile() -> None:
    made = re.findall(r"\$\(PIP\) install (.+)", (ROOT / "Makefile").read_text())
    steps = [step.text for step in FILE.all("RUN", stage=1)]
    installed = [text.partition(" install ")[2] for text in steps if " install " in text]
    assert installed == ["--require-hashes -r requirements.lock", "--no-deps --no-build-isolation ."]
    assert {installed[0], installed[1].replace(" .", " -e .")} <= set(made)


def test_it_runs_as_a_number_that_is_not_root() -> None:
    user = FILE.last("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    (made,) = FILE.all("RUN", stage=2)
    uid, gid = user.split(":")
    assert f"--uid {uid}" in made.text
    assert f"groupadd --gid {gid}" in made.text
    assert f"useradd --uid {uid} --gid {gid}" in made.text


def test_its_variables_are_settings_that_there_are() -> None:
    known = {variable_of(name, "SIGNALBOX_") for name in names_of(Settings)}
    assert {name for name in FILE.variables() if name.startswith("SIGNALBOX_")} <= known
    assert "SIGNALBOX_TOOLS__SHELL__SANDBOX" not in FILE.variables()  # a choice of whoever runs it


def test_data_outlive_the_container() -> None:
    assert FILE.last("VOLUME") == FILE.last("WORKDIR") == FILE.variables()["SIGNALBOX_DATA_DIR"] == "/data"


def test_a_container_is_healthy_unless_it_hangs_answers_and_leaves_when_it_is_stopped(image: Image) -> None:
    assert not image.is_well()
    start = image.command()
    with serving(start, folder=image.root, data=image.data, variables=image.variables()) as service:
        service.process.send_signal(signal.SIGSTOP)
        assert not image.is_well()
        service.process.send_signal(signal.SIGCONT)
        assert image.is_well()
        answered = image.call("ask", "list the files")
        assert answered.returncode == 0, answered.stderr
        assert service.leave(getattr(signal, FILE.last("STOPSIGNAL"))) == 0
    assert not image.is_well()
    assert (image.data / "signalbox.db").is_file()
