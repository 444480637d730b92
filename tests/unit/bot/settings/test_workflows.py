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
        (
            'wait = "tomorrow"',
            '"tomorrow" is no time to wait for; write it as "2 hours", "3 days" or "2026-12-01T09:00+01:00".',
        ),
        ('wait = "400 days"', '"400 days" is too long; a step waits at most 366 days.'),
        (
            'tool = "read_file"\narguments = { file = "a.txt" }',
            "read_file: there is no argument 'file'; the arguments are",
        ),
        (
            'tool = "write_file"\narguments = { path = "a.txt" }',
            "write_file: the argument 'content' is missing; give a string.",
        ),
        (
            'tool = "write_file"\narguments = { path = 7, content = "{{ 1 }}" }',
            "write_file: the argument 'path' must be a string; you gave an integer.",
        ),
        (
            'tool = "read_file"\narguments = { path = "a", pth = "{{ 1 }}" }',
            "read_file has no argument 'pth'; there are",
        ),
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
    assert f"step first ({flow}, line 4): {said}" in str(caught.value).splitlines()[1]


@pytest.mark.parametrize(
    "what",
    [
        'wait = "90 min"',
        'wait = "{{ inputs.when }}"',
        'wait = "2026-12-01T09:00+01:00"',
        'tool = "write_file"\narguments = { path = "{{ inputs.when }}", content = "x" }',
    ],
)
def test_words_that_can_be_are_taken(tmp_path: Path, what: str) -> None:
    (tmp_path / "workflows").mkdir()
    flow = f'[inputs]\nwhen = "1 hour"\n\n[[steps]]\nname = "first"\n{what}\n'
    (tmp_path / "workflows" / "tidy.toml").write_text(flow)
    settings = tmp_path / "signalbox.toml"
    settings.write_text("")
    assert [table.name for table in load(settings, environ={}).workflows] == ["tidy"]
