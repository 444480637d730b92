"""`signalbox models test`: one small call of each model, with its time to the first words and its price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, asking, hide_secrets, run
from bot.terminal.output import clean, show_json
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.tryouts.model import Answered, Refused
    from bot.wiring.models.catalogue import ListedModel

MICROS_A_DOLLAR: Final = 1_000_000
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="As `models list` shows them; else all.")]


def try_models(context: typer.Context, names: Names = None, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Ask each model for one word. That costs a few tokens. Exit code: 0 all answered, 1 one did not."""
    from bot.settings.settings import load_usable
    from bot.telemetry import logs
    from bot.wiring.models.catalogue import catalogue_of

    settings, _ = load_usable(config or context.find_root().obj, ask=asking())
    mask = hide_secrets(settings)
    logs.configure("error", settings.log.format, settings.secret_values())  # the lines tell
    entries = catalogue_of(settings)
    if strange := [name for name in names or () if name not in {one.name for one in entries}]:
        known = ", ".join(one.name for one in entries)
        raise ConfigError(f"There is no model {strange[0]}. There are: {known}.")
    wanted = [one for one in entries if not names or one.name in names]
    rows = run(_all(wanted, None if as_json else lambda line: typer.echo(clean(mask(line)))))
    if as_json:
        show_json([{**row, "error": row["error"] and mask(row["error"])} for row in rows])
    raise typer.Exit(0 if all(row["error"] is None for row in rows) else 1)


async def _all(entries: list[ListedModel], echo: Any) -> list[dict[str, Any]]:
    """One after the other, so that they don't take time from each other."""
    rows = []
    for entry in entries:
        told = await _try(entry)
        row = await _row(entry, told)
        rows.append(row)
        if echo:
            echo(_line(row))
    return rows


async def _try(entry: ListedModel) -> Answered | Refused:
    from bot.tryouts.model import try_given, try_made

    if not entry.is_demo:
        return await try_given(entry.given)
    from runtime.models.demo import Demo

    return await try_made(Demo(), entry.name)


async def _row(entry: ListedModel, told: Answered | Refused) -> dict[str, Any]:
    from bot.tryouts.model import Refused
    from bot.tryouts.served import missing_there

    about = {"name": entry.name, "model": entry.given.name}
    if isinstance(told, Refused):
        missing = await missing_there(entry.given)
        return {**about, "error": missing or told.why, "fix": "" if missing else told.fix}
    used = told.usage
    return {
        **about,
        "error": None,
        "text": told.text,
        "first_seconds": round(told.first.total_seconds(), 3),
        "seconds": round(told.took.total_seconds(), 3),
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost_micros": None if used.unpriced else used.cost_micros,
    }


def _line(row: dict[str, Any]) -> str:
    if row["error"] is not None:
        return f"{row['name']}: failed. {row['error']} {row['fix']}".rstrip()
    cost = "price unknown" if row["cost_micros"] is None else f"${row['cost_micros'] / MICROS_A_DOLLAR:.6f}"
    tokens = f"{row['input_tokens']:,} tokens in, {row['output_tokens']:,} out"
    return f"{row['name']}: first words after {row['first_seconds']:.2f} s, all after {row['seconds']:.2f} s; {tokens}; {cost}"
