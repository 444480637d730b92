"""`signalbox skills`: lists, shows, begins, installs, accepts and removes skills, and says what is wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, run, settings_of
from bot.terminal.output import clean, show_json, show_rows
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.operator.views import View
    from bot.settings.settings import Settings
    from runtime.skills.reading import FoundSkill

commands = typer.Typer(
    no_args_is_help=True,
    help="Skills: list, show, begin, search, install, accept and remove them, and see what is wrong with one.",
)
SKILL_COLUMNS: Final = {
    "name": "Skill",
    "state": "State",
    "source": "From",
    "agents": "Agents",
    "description": "What it's for",
}
SKILL_TEMPLATE: Final = """\
---
name: {name}
description: Says in a sentence or two what the skill does and when to use it, with the words people would say.
# license: MIT
# allowed-tools: read_file write_file      # a request by /skill {name} has these alone
# metadata:
#   signalbox-keywords: report, summary     # a message with one of these is given the whole text
#   signalbox-bins: python3                 # programs that its scripts need
#   signalbox-variables: TEAM               # set under [skills.{name}] in the settings
#   signalbox-secrets: TEAM_TOKEN           # named there, too
#   signalbox-deny-commands: git push       # never, while the skill is in use
---
1. Say step by step what to do.
2. Say what a good result looks like, with an example.
3. Say what to do when something is missing.
"""
FORM_LETTERS: Final = 12
"""Letters of a hash by which a form is named."""
SkillName = Annotated[str, typer.Argument(metavar="NAME", help="As `skills list` shows it.")]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="skills")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List skills of all sources, and how each stands."""
    _show_rows(ask_operator(settings_of(context, config), lambda api: api.skills()), as_json=as_json)


@commands.command()
def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(help="Words of a name or a description.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Search the skills that are here, and those that come with Signalbox. There's no marketplace."""
    rows = ask_operator(settings_of(context, config), lambda api: api.skills())
    wanted = [word.casefold() for word in " ".join(words).split()]
    found = [row for row in rows if all(word in f"{row['name']} {row['description']}".casefold() for word in wanted)]
    _show_rows(found, as_json=as_json, empty="No skill here has these words.")


@commands.command()
def show(context: typer.Context, name: SkillName, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one skill: what it can do, what stands out in it, and what changed since it was accepted."""
    row = ask_operator(settings_of(context, config), lambda api: api.skill(name))
    if as_json:
        show_json(row)
        return
    _show(row)


@commands.command()
def create(context: typer.Context, name: SkillName, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Begin a skill: writes skills/NAME/SKILL.md beside the settings file, for you to edit."""
    folder = _own_folder(settings_of(context, config)) / name
    file = folder / "SKILL.md"
    text = SKILL_TEMPLATE.format(name=name)
    _check_name(name, text)
    try:
        folder.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error
    if as_json:
        show_json({"name": name, "file": str(file)})
        return
    typer.echo(clean(as_called(f"Wrote {file}. Edit it, then: signalbox skills approve {name}")))


@commands.command()
def install(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A folder, an archive, its address, or a git repository (URL#folder)."),
    ],
    yes: Yes = False,
    config: ConfigFile = None,
) -> None:
    """Install a skill: checks it, shows what it can do, asks, copies it beside the settings file, and accepts it."""
    from bot.cli.skills.sources import gathered
    from runtime.skills.reading import read_skill

    settings = settings_of(context, config)
    own = _own_folder(settings)
    with gathered(source, settings) as folder:
        found = read_skill(folder)
        if (skill := found.skill) is None:
            raise ConfigError(f"{source}: {'; '.join(found.wrong)}. Nothing was installed.")
        _tell_of(found)
        goal = own / found.name
        again = " in place of the one that is there" if goal.exists() else ""
        ask_first(yes, f"Install {found.name}{again}, and accept it")
        _copied(found, goal)
    made = ask_operator(settings, lambda api: api.approve_skill(skill.name, skill.digest[:FORM_LETTERS]))
    typer.echo(clean(f"Installed {goal}. {made['told']}"))


@commands.command()
def approve(context: typer.Context, name: SkillName, yes: Yes = False, config: ConfigFile = None) -> None:
    """Accept a skill as it is now: shows what it can do and what changed, and asks first. For owners."""
    settings = settings_of(context, config)
    row = ask_operator(settings, lambda api: api.skill(name))
    _show(row)
    if row["waits"]:
        ask_first(yes, f"Accept {name} as it is now")
    typer.echo(clean(ask_operator(settings, lambda api: api.approve_skill(name, row["form"]))["told"]))


@commands.command()
def remove(context: typer.Context, name: SkillName, yes: Yes = False, config: ConfigFile = None) -> None:
    """Remove a skill: no agent has it any more, and its folder beside the settings file goes."""
    settings = settings_of(context, config)
    folder = _own_folder(settings) / name
    is_ours = folder.is_dir() and not folder.is_symlink() and folder.parent == _own_folder(settings)
    ask_first(yes, f"Remove {name}{f', with {folder}' if is_ours else ''}")
    told = ""
    try:
        told = ask_operator(settings, lambda api: api.remove_skill(name))["told"]
    except BotError:
        if not is_ours:
            raise
    if is_ours:
        shutil.rmtree(folder)
        told = f"{told} Removed {folder}.".strip()
    typer.echo(clean(told))


@commands.command()
def doctor(context: typer.Context, config: ConfigFile = None) -> None:
    """Check the skills alone: those that can't be read, wait for an owner, or lack something here."""
    from bot.doctor.services.skills import check_skills
    from bot.doctor.subject import Subject
    from runtime.contract import Level

    settings = settings_of(context, config)
    findings = run(check_skills(Subject(settings, None, None, None)))
    for finding in findings:
        mark = {Level.OK: "ok", Level.WARNING: "warning", Level.ERROR: "error"}[finding.level]
        typer.echo(
            clean(
                " ".join(filter(None, (f"{mark}: {finding.what}.", finding.why, finding.fix and f"Fix: {finding.fix}")))
            )
        )
    if not findings:
        typer.echo("No agent has a skill that needs a look. All that there are: signalbox skills list")


def _own_folder(settings: Settings) -> Path:
    from bot.wiring.skills.places import own_folder

    folder = own_folder(settings)
    if folder is None:
        raise ConfigError(as_called("There is no settings file to put it beside. Make one: signalbox init"))
    return folder


def _check_name(name: str, text: str) -> None:
    from runtime.domain.skills.skill import faults
    from runtime.skills.frontmatter import parsed

    if found := list(faults(parsed(text)[0], name)):
        raise ConfigError(f"{'; '.join(found)}.")


def _tell_of(found: FoundSkill) -> None:
    from runtime.chat.views.skills import ToldSkill, details

    typer.echo(clean(found.name))
    for part in details(ToldSkill(found.name, skill=found.skill, warned=found.warned, able=found.able)):
        typer.echo(f"\n{clean(_plain(part))}")
    typer.echo()


def _show(row: View) -> None:
    who = f", for {', '.join(row['agents'])}" if row["agents"] else ", no agent has it"
    typer.echo(clean(f"{row['name']}: {row['state']}{who}"))
    if row["folder"]:
        typer.echo(clean(row["folder"]))
    for part in row["details"]:
        typer.echo(f"\n{clean(_plain(part))}")
    typer.echo()


def _plain(part: str) -> str:
    """Words for a terminal: signs of Markdown were only put there for a chat."""
    return part if part.startswith("```") else part.replace("\\", "").replace("`", "")


def _copied(found: FoundSkill, goal: Path) -> None:
    """Write the very bytes that were shown, whole: half of two skills would be neither."""
    from runtime.skills.installing import install

    try:
        install(found.contents, goal)
    except OSError as error:
        raise ConfigError(f"{goal} cannot be written: {error.strerror}.") from error


def _show_rows(rows: list[View], *, as_json: bool, empty: str = "No skills.") -> None:
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, SKILL_COLUMNS, empty=empty)
