"""Our reader and the specification's own one take the same files for skills."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from skills_ref.parser import read_properties
from skills_ref.validator import validate

from runtime.skills.reading import read_skill
from tests.unit.skills.making import NOTES, head, skill_in

GOOD: Final = "Writes notes. Use when people ask for notes."
VALID: Final = {
    "least": head(name="notes", description=GOOD),
    "all fields": (
        "---\nname: notes\ndescription: Writes notes.\nlicense: MIT\ncompatibility: Needs git\n"
        'allowed-tools: Bash(git:*) Read\nmetadata:\n  author: ada\n  version: "1.0"\n---\nDo it.\n'
    ),
    "longest description": head(name="notes", description="n" * 1_024),
    "longest compatibility": head(name="notes", description=GOOD, compatibility="n" * 500),
    "quoted": head(name='"notes"', description="'it: works'"),
    "folded": "---\nname: notes\ndescription: >\n  Writes\n  notes.\n---\n",
    "block": "---\nname: notes\ndescription: |\n  Writes\n  notes.\n---\n",
    "a number as a text": head(name="notes", description="12"),
    "no body": head(name="notes", description=GOOD).removesuffix("Do it.\n"),
    "comment": "---\n# mine\nname: notes  # so\ndescription: Writes notes.\n---\n",
    "windows": head(name="notes", description=GOOD).replace("\n", "\r\n"),
    "empty metadata value": "---\nname: notes\ndescription: x\nmetadata:\n  author:\n---\n",
    "ours in metadata": NOTES,
    "list of tools": "---\nname: notes\ndescription: x\nallowed-tools: Read\n---\n",
}
INVALID: Final = {
    "no head": "Do it.\n",
    "open head": "---\nname: notes\ndescription: x\n",
    "no name": head(description=GOOD),
    "no description": head(name="notes"),
    "empty description": "---\nname: notes\ndescription:\n---\n",
    "long description": head(name="notes", description="n" * 1_025),
    "long compatibility": head(name="notes", description=GOOD, compatibility="n" * 501),
    "upper case": head(name="Notes", description=GOOD),
    "another folder": head(name="other", description=GOOD),
    "dash first": head(name="-notes", description=GOOD),
    "two dashes": head(name="no--tes", description=GOOD),
    "underscore": head(name="no_tes", description=GOOD),
    "space": head(name="no tes", description=GOOD),
    "unknown field": head(name="notes", description=GOOD, version="1"),
    "a list": "---\n- name\n- notes\n---\n",
    "a text": "---\nnotes\n---\n",
    "twice": "---\nname: notes\nname: notes\ndescription: x\n---\n",
    "anchor": "---\nname: &a notes\ndescription: *a\n---\n",
    "tag": "---\nname: !!str notes\ndescription: x\n---\n",
    "flow": "---\nname: notes\ndescription: x\nmetadata: {author: ada}\n---\n",
    "broken": "---\nname: notes\ndescription: a: b: c\n---\n",
    "long name": head(name="n" * 65, description=GOOD),
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_what_the_specification_allows_is_a_skill_with_the_same_words(text: str, tmp_path: Path) -> None:
    folder = skill_in(tmp_path, text=text)
    found, theirs = read_skill(folder), validate(folder)
    assert (theirs, found.wrong) == ([], ())
    assert found.skill is not None
    known = read_properties(folder)
    assert found.skill.name == known.name
    assert found.skill.description == " ".join(known.description.split())
    assert found.skill.license == (known.license or "")
    assert found.skill.compatibility == (known.compatibility or "")
    assert dict(found.skill.metadata) == (known.metadata or {})


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_what_the_specification_forbids_is_none(text: str, tmp_path: Path) -> None:
    name = "n" * 65 if "n" * 65 in text else "notes"
    folder = skill_in(tmp_path, name, text)
    assert validate(folder) != []
    assert read_skill(folder).wrong != ()


def test_a_folder_without_a_skill_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert validate(tmp_path / "notes") != []
    assert read_skill(tmp_path / "notes").wrong == ("there is no SKILL.md in it",)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = head(name="Notes", description="n" * 1_025, version="1").replace(
        "version: 1", "version: 1\nmetadata:\n  signalbox-color: red\n  signalbox-secrets: PATH"
    )
    wrong = "\n".join(read_skill(skill_in(tmp_path, text=text)).wrong)
    for part in (
        "version: no such field",
        'name: "Notes"',
        "description: 1,025",
        "signalbox-color",
        '"PATH" can\'t be set',
    ):
        assert part in wrong
