"""The form of a schedule: its fields, each with a place for what is wrong, its next times, and a look at its report.

The script fills in the times and the faults while somebody types, by the same API that programs use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot.console.html import Html, tag
from bot.operator.api import ROOT
from bot.operator.views import View
from runtime.text.words import marked, say

WHEN_EXAMPLES: Final = (
    "every weekday at 9",
    "every 2 hours",
    "first Monday of the month at 8:30",
    "in 20 minutes",
    "0 9 * * 1-5",
)
MISSED_LABELS: Final = {
    "once": marked("run once for all of them"),
    "skip": marked("skip them"),
    "all": marked("run every one"),
    "window": marked("run recent ones"),
}
THREAD_LABELS: Final = {
    "room": marked("in the room"),
    "own": marked("each in a thread of its own"),
    "running": marked("all in the thread of the first"),
}
QUIET_LABELS: Final = {"no": marked("say so"), "yes": marked("post nothing")}
YES_NO: Final = (marked("yes"), marked("no"))
KIND_LABELS: Final = {
    "prompt": marked("An agent does a task"),
    "report": marked("A built-in report is made"),
    "template": marked("A template is filled in"),
}
NO_FIELDS: Final[View] = {}


def schedule_form(reports: Sequence[View], zone: str, row: View = NO_FIELDS) -> Html:
    """The form, empty or with the fields of `row`, which it changes then. `zone` is where times are read without another."""
    fields = [
        *_when(row, zone),
        _coming(),
        *_work(row, reports),
        *picker(row),
        *_name(row),
        _more(row),
        _preview(),
        tag("p", id="form-fault", class_="fault", role="alert"),
    ]
    verb = say("Save changes") if row else say("Add schedule")
    buttons = tag("div", tag("button", verb, type="submit", class_="main"), class_="buttons")
    return tag(
        "form",
        *fields,
        buttons,
        method="post",
        action=f"{ROOT}/schedules/{row['id']}" if row else f"{ROOT}/schedules",
        class_="sheet",
        id="schedule-form",
        data_then="/console/schedules/{id}",
        data_changes=bool(row),
        data_schedule=row["id"] if row else None,
        novalidate=True,
    )


def _when(row: View, zone: str) -> Iterator[Html]:
    examples = (tag("button", one, type="button", data_fill="when", class_="example") for one in WHEN_EXAMPLES)
    yield _group(
        "when",
        say("When"),
        _input("when", value=row.get("when_text"), required=True, placeholder=WHEN_EXAMPLES[0], maxlength="200"),
        help_words=say("In words or as cron."),
        below=tag("div", *examples, class_="examples", role="group", aria_label=say("Examples")),
    )
    yield _group(
        "zone",
        say("Time zone"),
        _input("zone", value=row.get("zone"), placeholder=zone, list="zones", maxlength="64", data_own=zone == "UTC"),
        help_words=None if row else say("Empty: {zone}.", zone=zone),
        below=tag("datalist", id="zones"),
    )


def _coming() -> Html:
    """Place for the next five times."""
    return tag(
        "section",
        tag("h2", say("Next five times")),
        tag("p", say("They show here as you type."), id="coming-words", class_="faint"),
        tag("ol", id="coming-list"),
        id="coming",
        aria_live="polite",
        aria_label=say("Next five times"),
    )


def _work(row: View, reports: Sequence[View]) -> Iterator[Html]:
    kind = row.get("kind", "prompt")
    kinds = {name: words for name, words in KIND_LABELS.items() if kind in KIND_LABELS or name == kind}
    options = [tag("option", say(words), value=name, selected=name == kind) for name, words in kinds.items()]
    yield tag("div", tag("label", say("What happens then"), for_="kind"), tag("select", *options, id="kind"))
    text = row.get("task", "")
    yield _of_kind(
        "prompt", kind, _task("prompt", say("Task for the agent"), text if kind == "prompt" else "", rows="4")
    )
    yield _of_kind("report", kind, *_reports(reports, text if kind == "report" else "", row.get("options", {})))
    words = say("Jinja2 over the results of tools: docs/reports.md.")
    area = _task(
        "template", say("Template"), text if kind == "template" else "", rows="10", help_words=words, mono=True
    )
    yield _of_kind("template", kind, area)


def _of_kind(kind: str, chosen: str, *fields: Html) -> Html:
    return tag("fieldset", *fields, data_kind=kind, hidden=kind != chosen, disabled=kind != chosen)


def _task(name: str, words: str, text: str, *, rows: str, help_words: str | None = None, mono: bool = False) -> Html:
    area = tag(
        "textarea",
        text,
        id=name,
        name=name,
        rows=rows,
        required=True,
        maxlength="50000",
        spellcheck="false" if mono else None,
        class_="mono" if mono else None,
        aria_describedby=f"{name}-fault",
    )
    return _group(name, words, area, help_words=help_words)


def _reports(reports: Sequence[View], chosen: str, options: Mapping[str, object]) -> Iterator[Html]:
    picks = [
        tag("option", f"{one['name']}: {say(one['about'])}", value=one["name"], selected=one["name"] == chosen)
        for one in reports
    ]
    yield _group(
        "report", say("Report"), tag("select", *picks, id="report", name="report", aria_describedby="report-fault")
    )
    for one in reports:
        is_chosen = one["name"] == (chosen or reports[0]["name"])
        yield from report_options(one, options if one["name"] == chosen else {}, is_chosen=is_chosen)


def report_options(report: View, values: Mapping[str, object], *, is_chosen: bool) -> Iterator[Html]:
    """Fields for the options of a report; nothing where it has none."""
    if report["options"]:
        fields = (
            _option(f"{report['name']}-{name}", name, values.get(name, usual))
            for name, usual in report["options"].items()
        )
        yield tag("fieldset", *fields, data_options=report["name"], hidden=not is_chosen, disabled=not is_chosen)


def _option(ident: str, name: str, value: object) -> Html:
    label = tag("label", say(name.replace("_", " ").capitalize()), for_=ident)
    if isinstance(value, bool):
        picks = [tag("option", say(words), value=words, selected=value == (words == "yes")) for words in YES_NO]
        return tag("div", label, tag("select", *picks, id=ident, name=f"options:{name}"))
    return tag("div", label, tag("input", id=ident, name=f"options:{name}", value=str(value), autocomplete="off"))


def picker(row: View = NO_FIELDS) -> Iterator[Html]:
    """A field that finds rooms by name; those that were chosen stand above it."""
    chosen = list(zip(row.get("rooms", []), row.get("to", []), strict=True))
    chips = [_chip(name, address) for name, address in chosen]
    field = tag(
        "input",
        id="room",
        role="combobox",
        aria_autocomplete="list",
        aria_expanded="false",
        aria_controls="room-list",
        aria_describedby="to-help to-fault",
        autocomplete="off",
        spellcheck="false",
        placeholder=say("Search by name"),
    )
    yield tag(
        "div",
        tag("label", say("Rooms for the report"), for_="room"),
        tag("ul", *chips, class_="chips", aria_label=say("Chosen rooms"), hidden=not chips),
        tag(
            "div",
            field,
            tag("ul", id="room-list", role="listbox", aria_label=say("Rooms"), hidden=True),
            class_="combo",
        ),
        tag("input", type="hidden", name="to", value=",".join(address for _, address in chosen)),
        tag(
            "p",
            say("Of every channel. An address works too, such as slack:work/C024BE91L."),
            id="to-help",
            class_="faint help",
        ),
        _fault("to"),
        class_="picker",
    )


def _chip(name: str, address: str) -> Html:
    button = tag("button", say("Remove"), type="button", aria_label=say("Remove {name}", name=name))
    return tag("li", tag("span", name, title=address), button, data_address=address)


def _name(row: View) -> Iterator[Html]:
    yield _group(
        "name",
        say("Name"),
        _input("name", value=row.get("name"), maxlength="60"),
        help_words=None if row else say("Optional: the first words of the task otherwise."),
    )


def _more(row: View) -> Html:
    """Fields that seldom need another value."""
    terms = row.get("terms", {})
    cost = f"{terms['max_cost']:g}" if terms.get("max_cost") else None
    moments = say("Such as 2026-12-01 at 9:00, or tomorrow at 9.")
    return tag(
        "details",
        tag("summary", say("More")),
        _choice("quiet", say("If nothing is new"), QUIET_LABELS, "yes" if terms.get("quiet") else "no"),
        _choice("misfire", say("If times were missed"), MISSED_LABELS, terms.get("misfire", "once")),
        _choice("thread", say("Where in the room"), THREAD_LABELS, terms.get("thread", "room")),
        _group("starts", say("Not before"), _input("starts"), help_words=moments),
        _group("ends", say("Not after"), _input("ends"), help_words=moments),
        _group("max_cost", say("Dollars it may cost in 24 hours"), _input("max_cost", value=cost, inputmode="decimal")),
        id="more",
    )


def _choice(name: str, words: str, labels: Mapping[str, str], chosen: str) -> Html:
    options = [tag("option", say(label), value=value, selected=value == chosen) for value, label in labels.items()]
    return tag("div", tag("label", words, for_=name), tag("select", *options, id=name, name=name))


def _preview() -> Html:
    return tag(
        "div",
        tag("button", say("Show a preview of the report"), type="button", data_preview=True, aria_controls="preview"),
        preview_place(),
        data_kinds="report template",
        hidden=True,
    )


def preview_place() -> Html:
    """Place of a report as it will look."""
    return tag(
        "section",
        id="preview",
        class_="preview",
        aria_live="polite",
        aria_label=say("Preview"),
        tabindex="-1",
        hidden=True,
    )


def _input(name: str, **more: str | bool | None) -> Html:
    described = f"{name}-help {name}-fault"
    return tag("input", id=name, name=name, autocomplete="off", aria_describedby=described, **more)


def _group(name: str, words: str, field: Html, *, help_words: str | None = None, below: Html | None = None) -> Html:
    """A field with its label, a word of help, and what is wrong with it."""
    helped = tag("p", help_words or "", id=f"{name}-help", class_="faint help")
    return tag("div", tag("label", words, for_=name), field, helped, below, _fault(name))


def _fault(name: str) -> Html:
    return tag("p", id=f"{name}-fault", class_="fault", data_fault=name)
