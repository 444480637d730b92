"""`doctor` reads the templates of the settings file, before a report of theirs fails."""

from __future__ import annotations

from pathlib import Path

from bot.doctor.subject import Subject
from bot.doctor.templates import check_templates
from runtime.contract import Level
from tests.unit.bot.settings.test_settings import read

TABLE = '[[schedules]]\nname = "{name}"\nwhen = "daily"\nto = ["web:main/reports"]\n{task}\n'
FLOW = 'about = "Tidy"\ninputs = { folder = "Which folder" }\n\n[[steps]]\nname = "look"\ntool = "list_files"\n'
HEARTBEAT = '[[heartbeats]]\nname = "shop"\ntool = "http_get"\nto = ["web:main/reports"]\n'


async def found(folder: Path, *tables: str) -> list[tuple[str, Level, str]]:
    settings = read(folder, "".join(tables))
    subject = Subject(settings, None, None, None)
    return [(one.id, one.level, one.what) for one in await check_templates(subject)]


def table(name: str, task: str) -> str:
    return TABLE.format(name=name, task=task)


async def test_each_template_is_read_and_told_with_what_it_calls(tmp_path: Path) -> None:
    made = await found(
        tmp_path, HEARTBEAT, table("costs", 'report = "cost"'), table("plain", 'prompt = "What is new?"')
    )
    assert made == [
        ("templates.costs", Level.OK, "schedule 'costs': the report cost can be read; it calls costs"),
        ("templates.shop", Level.OK, "schedule 'shop': its template can be read; it calls http_get"),
    ]


async def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "daily.md").write_text("+++\nabout = 'x'\n+++\nall\n{{ stock }}\n")
    made = await found(
        tmp_path,
        table("file", 'template_file = "daily.md"'),
        table("short", 'template = "{% if %}"'),
        table("option", 'report = "cost"\noptions = { hour = 3 }'),
    )
    assert [(ident, level) for ident, level, _ in made] == [
        ("templates.file", Level.ERROR),
        ("templates.short", Level.ERROR),
        ("templates.option", Level.ERROR),
    ]
    assert "template file, line 5: 'stock' is undefined" in made[0][2]
    assert "template short, line 1: Expected an expression" in made[1][2]
    assert made[2][2] == "cost has no option 'hour'; its options are: hours, chart."


async def test_where_no_template_is_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert await found(tmp_path, table("plain", 'prompt = "What is new?"')) == []
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "tidy.toml").write_text(FLOW)
    assert await found(tmp_path, table("tidy", 'workflow = "tidy"\noptions = { folder = "." }')) == []


async def test_every_report_that_comes_along_can_be_read(tmp_path: Path) -> None:
    names = ("activity", "approvals", "cost", "dead-letters", "feedback")
    made = await found(tmp_path, *(table(name, f'report = "{name}"') for name in names))
    assert [level for _, level, _ in made] == [Level.OK] * len(names)
