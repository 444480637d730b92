"""Templates: what they can do, what their data cannot do to them, and that none of them holds a process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import DataCall
from runtime.markup import parse, to_plain
from runtime.markup.tree import Cell, Document, Paragraph, Table
from runtime.templating.environment import answered
from runtime.templating.order import RENDERED_MAX_CHARS, REST_WAS_CUT, Order, Piece
from runtime.templating.renderer import Renderer
from runtime.templating.sheet import TemplateError, read_sheet, with_options

ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
NOW = "2026-11-22T09:00:00+00:00"
ORDER = Order("", 0, name="Morning", now=NOW, planned_at=NOW, zone="Europe/Berlin")
EVERY_SCRIPT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=60)
MARKS = st.text("#*_`|[]()<>!~-+=>1.a \n\\&;:/@", max_size=30)


def order(body: str, data: Mapping[str, object] | None = None, **more: Any) -> Order:
    """What a process is told: data are JSON, or texts, or pieces as they are."""
    pieces = {name: value if isinstance(value, Piece) else piece(value) for name, value in (data or {}).items()}
    return replace(ORDER, body=body, data=pieces, **more)


def piece(value: object) -> Piece:
    return Piece("look", value if isinstance(value, str) else json.dumps(value))


def rendered(body: str, data: Mapping[str, object] | None = None, **more: Any) -> str:
    answer = answered(order(body, data, **more))
    assert "error" not in answer, answer
    return str(answer["text"])


def fault(body: str, data: Mapping[str, object] | None = None, **more: Any) -> tuple[int, str]:
    """The line and the words of what is wrong."""
    answer = answered(order(body, data, **more))
    return answer["line"], answer["error"]


# ----------------------------------------------------------------------------------------------------- data and layout


def plain(markdown: str) -> str:
    return to_plain(parse(markdown))


def seen(text: str) -> str:
    """A text as one line, as people see it."""
    return " ".join(
        "".join(
            letter for letter in text if letter not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        ).split()
    )


@given(st.one_of(MARKS, EVERY_SCRIPT))
def test_a_value_is_its_own_words_and_one_line_whatever_is_in_it(value: str) -> None:
    text = rendered("before {{ x }} after", {"x": piece(json.dumps(value))})
    (only,) = parse(text).blocks
    assert isinstance(only, Paragraph)
    assert seen(plain(text)) == seen(f"before {value} after")


def test_words_of_the_template_after_a_value_stay_as_they_are() -> None:
    assert rendered("{{ x }}: can't & \"won't\" {{ x }} isn't", {"x": piece("1")}) == "1: can't & \"won't\" 1 isn't"


@given(st.one_of(MARKS, EVERY_SCRIPT))
def test_a_value_at_the_begin_of_a_line_is_no_heading_list_or_rule(value: str) -> None:
    text = rendered("above\n{{ x }}\n\n{{ x }}\n", {"x": piece(json.dumps(value))})
    assert all(isinstance(block, Paragraph) for block in parse(text).blocks)


@given(st.one_of(MARKS, EVERY_SCRIPT))
def test_a_value_breaks_no_table(value: str) -> None:
    rows = [{"a": value, "b": "1"}, {"a": "2", "b": value}]
    (only,) = parse(rendered("{{ rows | table }}", {"rows": rows})).blocks
    assert isinstance(only, Table)
    assert [[*map(_words, row)] for row in _rows(only)] == [["a", "b"], [seen(value), "1"], ["2", seen(value)]]


@given(st.one_of(MARKS, EVERY_SCRIPT))
def test_code_in_a_table_breaks_it_neither(value: str) -> None:
    body = "{{ [[x | code, 'b']] | table(['A', 'B']) }}"
    (only,) = parse(rendered(body, {"x": piece(json.dumps(value))})).blocks
    assert isinstance(only, Table)
    assert [[*map(_words, row)] for row in _rows(only)] == [["A", "B"], [seen(value), "b"]]


@given(MARKS)
def test_a_block_ends_where_it_should(value: str) -> None:
    blocks = parse(rendered("{{ x | block }}\nafter", {"x": piece(json.dumps(value))})).blocks
    assert len(blocks) == 2
    assert isinstance(blocks[1], Paragraph)


def _rows(table: Table) -> list[tuple[Cell, ...]]:
    return [row.cells for row in (table.header, *table.rows)]


def _words(cell: Cell) -> str:
    return seen(to_plain(Document((Paragraph(cell.children),))))


@pytest.mark.parametrize(
    "body",
    [
        "{% macro m(a) %}**{{ a }}**{% endmacro %}{{ m(x) }}",
        "{{ x ~ ('b' | code) }}",
        "{{ ('b' | code) + x }}",
        "{{ ['b' | code, x] | join(', ') }}",
        "{% set y %}{{ x }}{% endset %}{{ y }}",
        "{{ [x] | bullets }}",
        "{{ x | quote }}",
        "{% for one in [x] %}{{ one }}{% endfor %}",
        "{{ x | replace('z', 'y') | truncate(200) }}",
        "{{ {'k': x}['k'] }}",
    ],
)
def test_no_way_of_putting_a_value_out_leaves_its_marks_alive(body: str) -> None:
    text = rendered(body, {"x": "**bold** | [link](http://x) <b> & `code`"})
    assert "**bold**" in plain(text)
    assert "[link](http://x)" in plain(text)
    assert "`code`" in plain(text)


def test_what_is_known_to_be_markdown_may_be_put_out_as_such() -> None:
    assert rendered("{{ previous | markdown }}", previous="**all** is well") == "**all** is well"
    assert rendered("{{ previous }}", previous="**all** is well") == r"\*\*all\*\* is well"


def test_values_that_are_no_texts_are_shown_for_people() -> None:
    data = {"x": {"yes": True, "none": None, "list": [1, "a"], "many": 1234567.5}}
    assert (
        rendered("{{ x.yes }} {{ x.none }} {{ x.list }} {{ x.many | number }}", data)
        == 'yes \u2013 `[1, "a"]` 1,234,567.5'
    )


def test_data_is_json_where_it_is_that_and_else_a_text() -> None:
    assert rendered("{{ a.items }} {{ b }}", {"a": {"items": 3}, "b": "{no json"}) == "3 {no json"


def test_times_are_those_of_the_schedules_zone() -> None:
    assert rendered("{{ planned_at }} {{ now.hour }}") == "2026-11-22 10:00 9"
    assert rendered("{{ x | local('%H:%M') }} {{ x | ago }}", {"x": "2026-11-22T06:30:00Z"}) == "07:30 2 h 30 min ago"
    assert rendered("{{ previous_at is none }}") == "yes"


def test_a_table_has_its_columns_and_says_what_it_leaves_out() -> None:
    rows = [{"room": f"r{n}", "cost": n * 1_000_000} for n in range(250)]
    text = rendered("{{ rows | table({'room': 'Room', 'cost': 'Cost'}) }}", {"rows": rows})
    assert text.splitlines()[1:4] == ["| Room | Cost |", "| --- | --: |", "| r0 | 0 |"]
    assert "\u2026 and 50 more" in text


def test_a_long_text_is_cut_and_says_so() -> None:
    text = rendered("{% for n in range(100000) %}line {{ n }}\n{% endfor %}")
    assert len(text) <= RENDERED_MAX_CHARS
    assert text.endswith(REST_WAS_CUT)


# -------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("a\nb\n{{ costs }}", 3, "'costs' is undefined; did you mean 'cost'?"),
        ("{{ zzz }}", 1, "'zzz' is undefined; there are changed, charts, cost, data"),
        ("\n{{ cost.total }}", 2, "'dict object' has no attribute 'total'"),
        ("\n\n{% if %}", 3, "Expected an expression"),
        ("{% for a in cost %}", 1, "Unexpected end of template"),
        ("\n{{ cost | safe }}", 2, "No filter named 'safe'"),
        ("{% include 'x' %}", 1, "can't include, import or extend"),
        ("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}", 1, "calls itself endlessly"),
        ("{{ 1 / 0 }}", 1, "division by zero"),
        ("\n{{ 'soon' | ago }}", 2, "'soon' isn't a time; write a time as 2026-03-01T09:00:00Z"),
        ("{{ range(1000000) }}", 1, "Range too big"),
        ("{{ [3] | table }}", 1, "a row of a table is a mapping or a list"),
        ("{{ '%s' % 3 }}", 1, "use ~ to join"),
        ("{{ changed('other') }}", 1, "changed: there is no data 'other'; there is cost"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(body: str, line: int, words: str) -> None:
    at, said = fault(body, {"cost": {"sum": 1}})
    assert at == line
    assert words in said


@pytest.mark.parametrize(
    "body",
    [
        "{{ x.__class__ }}",
        "{{ x.__class__.__mro__[1].__subclasses__() }}",
        "{{ x['__class__'] }}",
        "{{ (x | list)[0]['__class__'] }}",
        "{{ [x] | map(attribute='__class__') | list }}",
        "{{ x | attr('__class__') }}",
        "{{ changed.__globals__ }}",
        "{{ changed.__self__ }}",
        "{{ range.__self__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ data.x.piece.__init__ }}",
        "{{ data._results }}",
        "{{ data.x.__class__ }}",
        "{{ loop }}",
        "{{ self.__init__ }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ x.format_map({}) }}",
        "{{ x.encode() }}",
        "{{ now.__class__ }}",
        "{{ now.tzinfo }}",
        "{{ joiner() }}",
        "{{ lipsum.__globals__ }}",
        "{{ cycler.__init__ }}",
        "{{ dict.mro() }}",
        "{% set ns = namespace() %}{{ ns.__class__ }}",
        "{% macro m() %}{% endmacro %}{{ m._func }}",
        "{% import 'os' as os %}",
        "{% for a in [1] %}{{ loop._iterable }}{% endfor %}",
    ],
)
def test_nothing_inside_can_be_reached(body: str) -> None:
    assert "error" in answered(order(body, {"x": "text"}))


def test_nothing_that_is_given_can_be_changed() -> None:
    for body in ("{{ x.update({'a': 2}) }}", "{{ x.pop('a') }}", "{{ x.clear() }}", "{{ [].append(1) }}"):
        assert "error" in answered(order(body, {"x": {"a": 1}}))


# ------------------------------------------------------------------------------------------------------- failed data

FAILED = Piece("http_get", "error: no answer within 60 seconds", failed=True)


@pytest.mark.parametrize(
    "body", ["{{ x }}", "\n{{ x.total }}", "{% for a in x %}{% endfor %}", "{% if x %}{% endif %}"]
)
def test_data_that_could_not_be_had_is_a_fault_where_it_is_used(body: str) -> None:
    line, words = fault(body, {"x": FAILED})
    assert line == 1 + body.count("\n")
    assert words == "its data 'x' couldn't be fetched: http_get: error: no answer within 60 seconds"


def test_data_that_could_not_be_had_is_a_fault_also_where_nobody_looks() -> None:
    assert fault("all is well", {"x": FAILED}) == (
        0,
        "its data 'x' couldn't be fetched: http_get: error: no answer within 60 seconds",
    )


def test_a_template_may_handle_what_fails() -> None:
    body = "{% if data.x.failed %}away: {{ data.x.error }}{% else %}{{ x }}{% endif %}"
    assert rendered(body, {"x": FAILED}) == "away: error: no answer within 60 seconds"
    assert rendered(body, {"x": "fine"}) == "fine"


def test_a_template_knows_what_changed() -> None:
    body = "{{ changed('x') }} {{ data.x.changed }}"
    assert rendered(body, {"x": Piece("look", "1", changed=True)}) == "yes yes"
    assert rendered(body, {"x": Piece("look", "1", changed=False)}) == "no no"


# ---------------------------------------------------------------------------------------------------------- expressions


def test_expressions_give_values() -> None:
    wish = order("", {"x": {"rows": [{"n": "a", "v": 1}, {"n": "b", "v": 2}]}})
    wanted = "{'labels': x.rows | map(attribute='n') | list,\n 'values': x.rows | map(attribute='v'), 'none': none}"
    told = answered(replace(wish, expressions={"c": wanted}))
    assert told == {"values": {"c": {"labels": ["a", "b"], "values": [1, 2], "none": None}}}


@pytest.mark.parametrize(
    ("wanted", "words"), [("y", "'y' is undefined"), ("{'a': x.b}", "no attribute 'b'"), ("{'a'", "unexpected")]
)
def test_a_wrong_expression_is_told_with_its_name(wanted: str, words: str) -> None:
    told = answered(replace(order("", {"x": {}}), expressions={"by_room": wanted}))
    assert told["place"] == "chart by_room"
    assert words in told["error"]


# ------------------------------------------------------------------------------------------------- before any rendering


def checked(body: str, **more: Any) -> dict[str, Any]:
    return answered(order(body, {"cost": ""}, only_check=True, **more))


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("a\n{{ costs.total }}", 2, "'costs' is undefined; did you mean 'cost'?"),
        ("{% for a in cost %}{{ b }}\n{% endfor %}", 1, "'b' is undefined"),
        ("\n{% if %}", 2, "Expected an expression"),
        ("{{ cost | nothing }}", 1, "No filter named 'nothing'"),
    ],
)
def test_a_template_is_read_before_its_data_are_there(body: str, line: int, words: str) -> None:
    told = checked(body)
    assert told["line"] == line
    assert words in told["error"]


def test_what_can_be_rendered_is_found_to_be_fine() -> None:
    body = (
        "{% macro m(a) %}{{ a }}{% endmacro %}{% set ns = namespace(n=0) %}{% for r in cost %}{{ m(r) }}{{ loop.index }}"
        "{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}{{ data.cost.failed }}{{ changed('cost') }}{{ range(3) | join }}"
        "{{ quiet }}{{ previous_at }}{{ charts.x is defined }}{{ options }}{{ zone }}"
    )
    assert checked(body, expressions={"c": "cost.labels"}) == {"text": ""}
    assert "error" in checked(body, expressions={"c": "{cost"})


# ----------------------------------------------------------------------------------------------------------- the header

HEADER = """\
+++
about = "A test."
[options]
hours = 24
chart = true
word = "a"
[[data]]
name = "costs"
tool = "costs"
arguments = { deep = 1 }
options = ["hours"]
[[charts]]
name = "by_room"
arguments = "none"
+++
body
"""


def test_a_header_tells_calls_options_and_charts() -> None:
    sheet = read_sheet("t", HEADER, [DataCall("more", "look", {})])
    assert (sheet.about, sheet.body, sheet.above) == ("A test.", "body\n", 15)
    assert sheet.calls() == [DataCall("more", "look", {}), DataCall("costs", "costs", {"deep": 1, "hours": 24})]
    assert [chart.name for chart in sheet.charts] == ["by_room"]
    assert with_options(sheet, {"hours": 48}).calls()[1].arguments == {"deep": 1, "hours": 48}


def test_a_template_without_a_header_is_a_template() -> None:
    assert read_sheet("t", "+ a\n++").body == "+ a\n++"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"hours": "48"}, 48),
        ({"chart": "no"}, False),
        ({"chart": "TRUE"}, True),
        ({"word": "7"}, "7"),
        ({"hours": 3}, 3),
    ],
)
def test_options_are_read_as_their_defaults(given: Mapping[str, Any], wanted: object) -> None:
    assert next(iter(given)) in HEADER
    assert with_options(read_sheet("t", HEADER), given).options[next(iter(given))] == wanted


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hour": 1}, "t has no option 'hour'; its options are: hours, chart, word."),
        ({"hours": "soon"}, "t: option hours is a whole number, such as 24; not"),
        ({"hours": True}, "t: option hours is a whole number"),
        ({"chart": "perhaps"}, "t: option chart is true or false"),
        ({"word": 3}, "t: option word is a text"),
    ],
)
def test_wrong_options_are_told(given: Mapping[str, Any], words: str) -> None:
    with pytest.raises(TemplateError) as told:
        with_options(read_sheet("t", HEADER), given)
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("+++\na = 1\n", "template t, line 1: the header that begins here has no end"),
        ("+++\nabout = 'x'\na b\n+++\n", "template t, line 3: its header isn't TOML"),
        ("+++\ntitle = 'x'\n+++\n", "its header has 'title'; it may have about, charts, data, options"),
        ("+++\nabout = 3\n+++\n", "about must be text"),
        ("+++\noptions = 3\n+++\n", "options is a table"),
        ("+++\n[options]\na = [1]\n+++\n", "option 'a' needs a default"),
        ("+++\ndata = 3\n+++\n", "data are tables, each beginning with a line [[data]]"),
        ("+++\n[[data]]\nname = 'a'\n+++\n", "a table data needs a tool"),
        ("+++\n[[data]]\nname = 'a'\ntool = 't'\nargs = 1\n+++\n", "a table data has 'args'"),
        ("+++\n[[data]]\nname = 'a'\ntool = 't'\noptions = ['b']\n+++\n", "lists names that are in [options]"),
        ("+++\n[[data]]\nname = 'previous'\ntool = 't'\n+++\n", "data cannot be called 'previous'"),
        ("+++\n[[data]]\nname = 'A b'\ntool = 't'\n+++\n", "'A b' can't name data"),
        ("+++\n" + "[[data]]\nname = 'a'\ntool = 't'\n" * 2 + "+++\n", "two of its data are called 'a'"),
        ("+++\n" + "[[data]]\nname = 'a'\ntool = 't'\n" * 21 + "+++\n", "it has 21 tables data; at most 20"),
        ("x" * 50_001, "it has 50,001 characters; at most 50,000"),
    ],
)
def test_a_wrong_header_is_told(text: str, words: str) -> None:
    with pytest.raises(TemplateError) as told:
        read_sheet("t", text)
    assert words in str(told.value)


# ---------------------------------------------------------------------------------------------------------- the process


async def process(body: str, renderer: Renderer | None = None, data: Mapping[str, object] | None = None) -> str:
    sheet = read_sheet("t", body)
    told = order(sheet.body, data)
    return await (renderer or Renderer()).text(sheet, replace(told, above=sheet.above))


async def test_a_process_renders_and_tells_lines_of_the_whole_file() -> None:
    assert await process("{{ x }} \u00e9\u6f22", data={"x": "a|\u6f22"}) == "a\\|\u6f22 \u00e9\u6f22"
    with pytest.raises(TemplateError, match=r"^template t, line 5: 'y' is undefined"):
        await process("+++\nabout = ''\n+++\n\n{{ y }}")


async def test_a_template_that_never_ends_is_stopped() -> None:
    with pytest.raises(TemplateError, match=r"^template t: it did not end within 1 seconds, so it was stopped"):
        await process(ENDLESS, Renderer(processor=timedelta(seconds=1)))


@pytest.mark.parametrize(
    "body",
    [
        "{% set ns = namespace(t='a') %}{% for a in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ [0] * 10 ** 9 }}",
    ],
)
async def test_a_template_that_eats_memory_is_stopped(body: str) -> None:
    with pytest.raises(TemplateError, match=r"^template t: it needs too much memory, so it was stopped"):
        await process(body)


async def test_a_process_that_waits_too_long_is_ended_by_the_clock() -> None:
    with pytest.raises(TemplateError, match="did not end within"):
        await process(
            ENDLESS,
            Renderer(deadline=timedelta(seconds=0.3)),
        )
    assert not _children()


async def test_cancelling_ends_the_process() -> None:
    task = asyncio.ensure_future(process(ENDLESS))
    async with asyncio.timeout(30):
        while not _children():  # noqa: ASYNC110 - no event tells that a process was started
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _children()


async def test_a_process_has_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNALBOX_TEST_SECRET", "hidden")
    task = asyncio.ensure_future(process(ENDLESS))
    async with asyncio.timeout(30):
        while not (found := _children()):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
    assert set(found[0].environ()) <= {"LANG", "LC_CTYPE"}
    task.cancel()
    await asyncio.wait([task])


def _children() -> list[psutil.Process]:
    """Processes that render for this one."""
    return [child for child in psutil.Process().children() if any("templating" in word for word in _started_as(child))]


def _started_as(child: psutil.Process) -> list[str]:
    try:
        return list(child.cmdline())
    except psutil.Error:
        return []
