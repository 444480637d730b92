"""Presets of `signalbox init`: what they write loads without a complaint, and `doctor` is content with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.agents import check_agents
from bot.doctor.configuration import check_configuration
from bot.doctor.examine import examine
from bot.doctor.people import check_people
from bot.doctor.policy import check_policy
from bot.doctor.schedules import check_schedules
from bot.doctor.services.skills import check_skills
from bot.secrets.keys import Keyring
from bot.settings.settings import Settings, load
from bot.wiring.agents import manifests_of
from bot.wizard.draft import Draft, Flags
from bot.wizard.presets.presets import PRESET_NAMES, PRESETS_FOLDER, preset_of, write_agents
from bot.wizard.write import write_settings
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

CHECKS = {
    "settings": check_configuration,
    "policy": check_policy,
    "agents": check_agents,
    "people": check_people,
    "schedules": check_schedules,
    "skills": check_skills,
}


def begun(tmp_path: Path, name: str) -> Settings:
    """Settings as `signalbox init --preset NAME` leaves them."""
    preset = preset_of(name)
    draft = Draft(Flags(preset=preset), tmp_path / "signalbox.toml", {}, Keyring(key_file=tmp_path / "key"))
    draft.set("data_dir", "var")
    draft.set("web.port", 8080)
    assert write_agents(preset, tmp_path) == []
    write_settings(draft)
    return load(tmp_path / "signalbox.toml", environ={"HOME": str(tmp_path / "home")}, folder=tmp_path)


@pytest.mark.parametrize("name", PRESET_NAMES)
async def test_a_preset_loads_and_doctor_is_content(name: str, tmp_path: Path) -> None:
    settings = begun(tmp_path, name)
    found: list[Finding] = [one async for one in examine(settings, checks=CHECKS)]
    assert [one for one in found if one.level is not Level.OK] == []
    assert any(one.id == "skills" for one in found)
    manifests = manifests_of(settings)
    assert any(manifest.skills for manifest in manifests.values())
    assert settings.policy != ()
    assert settings.budgets.day


def test_each_preset_of_the_folder_has_its_words() -> None:
    assert {folder.name for folder in PRESETS_FOLDER.iterdir()} == set(PRESET_NAMES)


def test_a_name_that_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"there is no preset codign\. Did you mean coding\?"):
        preset_of("codign")


def test_an_agent_that_is_there_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "main.toml").write_text("# mine\n")
    assert write_agents(preset_of("team"), tmp_path) == ["main.toml"]
    assert (tmp_path / "agents" / "main.toml").read_text() == "# mine\n"
    assert (tmp_path / "agents" / "research.toml").exists()
