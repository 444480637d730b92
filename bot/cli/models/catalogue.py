"""`signalbox models`: lists and shows them, tells which rest, and ends a rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.cli.models.trial import try_models
from bot.terminal.options import AsJson, ConfigFile, ask_operator, run, settings_of
from bot.terminal.output import clean, show_facts, show_json, show_rows, word

if TYPE_CHECKING:
    from bot.operator.views import View
    from bot.settings.settings import Settings

commands = typer.Typer(no_args_is_help=True, help="Language models: list, try and show them, and those that rest.")

MODEL_COLUMNS: Final = {
    "name": "Name",
    "model": "Model",
    "vendor": "Vendor",
    "role": "Asked",
    "window": "Window",
    "price": "USD per million tokens",
    "key": "Key",
    "rests": "Rests until",
}
COOLDOWN_COLUMNS: Final = {
    "model": "Model",
    "cause": "Cause",
    "until": "Until",
    "failures": "Failures",
    "reason": "Reason",
}
UNTIL_CHANGED: Final = "its settings or key change"
NO_REST: Final = "doesn't rest, but fails"
Name = Annotated[str, typer.Argument(metavar="NAME", help="As `models list` shows it.")]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="models")


commands.command("test")(try_models)


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the models in the settings, the usual one first. Asks none of them."""
    rows = ask_operator(settings_of(context, config), lambda api: api.models())
    if as_json:
        show_json(rows)
    else:
        show_rows([_line(row) for row in rows], MODEL_COLUMNS, empty="No models.")


@commands.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one model. A server on this network is asked which models it has."""
    settings = settings_of(context, config)
    row = ask_operator(settings, lambda api: api.model(name))
    missing = run(_missing(settings, row["name"]))
    if as_json:
        show_json({**row, "missing": missing or None})
        return
    line, rest = _line(row), row["cooldown"]
    show_facts((head.lower(), line[key]) for key, head in MODEL_COLUMNS.items() if key not in ("price", "rests"))
    show_facts([("price", line["price"]), ("api_base", row["api_base"]), ("rests until", line["rests"])])
    if rest:
        typer.echo(clean(rest["reason"]))
    if missing:
        typer.echo(clean(missing))


@commands.command("cooldowns")
def cooldowns(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List models that failed, and until when they aren't asked."""
    rows = ask_operator(settings_of(context, config), lambda api: api.cooldowns())
    if as_json:
        show_json(rows)
        return
    lines = [{**row, "until": _until(row)} for row in rows]
    show_rows(lines, COOLDOWN_COLUMNS, empty="No model is resting.")


@commands.command("clear")
def clear(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Have a model asked again at once, on all nodes."""
    ask_operator(settings_of(context, config), lambda api: api.clear_cooldown(name))
    typer.echo(clean(f"{name} is asked again from the next message on."))


def _line(row: View) -> dict[str, Any]:
    """A model as people read it."""
    rest = row["cooldown"]
    return {
        **row,
        "role": ", ".join(_roles(row)),
        "window": f"{row['window']:,} ({row['window_source']})",
        "price": " ".join(filter(None, [row["price"], f"({row['price_source']})"])),
        "key": f"missing: {row['wanted_key']}" if row["key"] == "missing" else row["key"],
        "rests": _until(rest) if rest else "",
    }


def _until(rest: View) -> str:
    if rest["alone"]:
        return NO_REST
    return word(rest["until"]) if rest["until"] else UNTIL_CHANGED


def _roles(row: View) -> Iterator[str]:
    if row["usual"]:
        yield "usually"
    if row["fallback"]:
        yield f"fallback {row['fallback']}"
    if row["for"]:
        yield f"for {', '.join(row['for'])}"
    if row["least_complexity"] is not None:
        yield f"from complexity {row['least_complexity']}"


async def _missing(settings: Settings, name: str) -> str:
    """A sentence where the model's own server doesn't have it."""
    from bot.settings.settings import load_usable
    from bot.tryouts.served import missing_there
    from bot.wiring.models.catalogue import catalogue_of

    found = next((one for one in catalogue_of(load_usable(settings.file)[0]) if one.name == name), None)
    return await missing_there(found.given) if found else ""
