"""Workflows beside the settings: what is wrong with one is told with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.settings import load
from runtime.errors import ConfigError


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ('tool = "list_filez"', 'there is no tool "list_filez"; did you mean list_files?'),
        ('delegate = "look"\nto = "nobody"', 'there is no agent "nobody"; there is main.'),
    ],
)
def test_a_name_that_there_is_not_is_told_with_file_and_line(tmp_path: Path, what: str, said: str) -> None:
    flow = tmp_path / "workflows" / "tidy.toml"
    flow.parent.mkdir()
    flow.write_text(f'about = "Tidy"\n\n[[steps]]\nname = "first"\n{what}\n')
    settings = tmp_path / "signalbox.toml"
    settings.write_text("")
    with pytest.raises(ConfigError) as caught:
        load(settings, environ={})
    assert str(caught.value).splitlines()[1].endswith(f"step first ({flow}, line 4): {said}")
