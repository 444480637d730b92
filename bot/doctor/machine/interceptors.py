"""Interceptors: each is asked about an example, and what is wrong with one is told."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.subject import Subject, fine, warning
from bot.settings.safety.interceptors import InterceptorTable
from runtime.contract import Finding
from runtime.errors import ConfigError


async def check_interceptors(subject: Subject) -> Sequence[Finding]:
    return [await _tried(subject, table) for table in subject.settings.interceptors if table.enabled]


async def _tried(subject: Subject, table: InterceptorTable) -> Finding:
    from bot.wiring.safety.interceptor_trials import example_of, tried

    ident, fix = f"interceptors.{table.name}", f"see what it answers: signalbox interceptors test {table.name}"
    try:
        trial = await tried(subject.settings, table, example_of(table.at[0]))
    except ConfigError as error:
        return warning(
            ident, str(error), "Signalbox does not start with it.", "install the package, or remove the table"
        )
    if trial.fault:
        return warning(ident, f"it fails: {trial.fault}", _why(table), fix)
    where = "inside Signalbox" if table.package else f"{trial.first_ms:.0f} ms with its start"
    return fine(ident, f"at {', '.join(table.at)}; it answers in {trial.again_ms:.1f} ms ({where})")


def _why(table: InterceptorTable) -> str:
    denies = [point for point in table.at if table.is_closed_at(point)]
    if not denies:
        return "Nothing is stopped by that, but it sees nothing either."
    return f"All that it's asked about at {', '.join(denies)} is denied."
