"""The decisions behind a chart, which are pure."""

from itertools import combinations
from math import inf, nan
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.errors import ToolRetry
from tools.charting.alt import alt_of
from tools.charting.amounts import MINUS, exact, on_axis, share, short
from tools.charting.arguments import Asked, order_of
from tools.charting.kinds.bars import grouped, lies, stacked
from tools.charting.kinds.pies import slices
from tools.charting.labels import GAP, LOWEST, WIDEST, laid
from tools.charting.letters import clean, cut, drawable, wrapped
from tools.charting.looks import THEMES, Theme, brightness, contrast, readable_on
from tools.charting.order import Order, Series
from tools.charting.scales import span_of_bars, span_of_lines
from tools.charting.tables import columns_of

NUMBERS = st.floats(-1e30, 1e30, allow_nan=False)


def asked(**more: Any) -> Asked:
    plain: dict[str, Any] = {
        "kind": "line",
        "title": "Sales",
        "labels": ["a", "b"],
        "series": [{"name": "x", "values": [1, 2]}],
    }
    return Asked(**plain | more)


def one(*values: float | None) -> list[dict[str, Any]]:
    return [{"name": "x", "values": list(values)}]


def wide(text: str) -> float:
    return 10.0 * len(text)


# ---------------------------------------------------------------------------------------------------- what is asked


def test_what_is_right_is_taken_as_it_is() -> None:
    order = order_of(asked(labels=[2024, 2025.0, " c\n"], series=one(1, None, 2.5), title=" Two\nlines "))
    assert order.labels == ("2024", "2025", "c")
    assert order.series == (Series("x", (1.0, None, 2.5)),)
    assert order.title == "Two lines"


def test_what_a_kind_does_not_have_makes_no_other_picture() -> None:
    assert order_of(asked(stacked=True, horizontal=True)) == order_of(asked())


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"labels": []}, "labels: there is nothing to draw"),
        ({"series": []}, "series: there is nothing to draw"),
        ({"labels": ["a"]}, r"series\[0\].values: it has 2 numbers for 1 labels"),
        ({"series": [{"name": "x"}]}, r"series\[0\].values: it must be a list"),
        ({"series": [{"name": 3, "values": [1, 2]}]}, r"series\[0\].name: it must be a text"),
        ({"series": [{"values": [1, 2]}, {"values": [3, 4]}]}, r"series\[0\].name: it is missing"),
        ({"series": one(1, 2) * 2}, r"series\[0\].name: 2 series have this name"),
        ({"series": [{"name": "x", "values": [1, 2], "color": "red"}]}, r"series\[0\]: it has 'color'"),
        ({"series": one(1, nan)}, r"series\[0\].values\[1\]: it is not a finite number"),
        ({"series": one(-inf, 1)}, r"series\[0\].values\[0\]: it is not a finite number"),
        ({"series": one(10**400, 1)}, r"series\[0\].values\[0\]: its size must be"),
        ({"series": one(1e-40, 1)}, r"series\[0\].values\[0\]: its size must be"),
        ({"series": [{"name": "x", "values": ["1", 2]}]}, r"series\[0\].values\[0\]: it must be a number"),
        ({"series": [{"name": "x", "values": [True, 2]}]}, r"series\[0\].values\[0\]: it must be a number"),
        ({"series": one(None, None)}, "all values are null"),
        ({"kind": "pie", "series": one(1, -2)}, r"series\[0\].values\[1\]: it is negative"),
        ({"kind": "pie", "series": one(0, 0)}, "all are 0"),
        ({"kind": "pie", "series": [*one(1, 2), {"name": "y", "values": [1, 2]}]}, "a pie shows one; you gave 2"),
        ({"labels": ["a"] * 501, "series": one(*[1.0] * 501)}, "labels: you gave 501; a chart shows at most 500"),
        ({"series": one(1, 2) * 13}, "series: you gave 13; a chart shows at most 12"),
        ({"kind": "bar", "labels": ["a"] * 450, "series": one(*[1.0] * 450)}, "450 bars; at most 400"),
        (
            {"kind": "bar", "horizontal": True, "labels": ["a"] * 61, "series": one(*[1.0] * 61)},
            "horizontal: at most 60",
        ),
        ({"title": "x" * 10_000}, "title: it has 10,000 characters; at most 200"),
        ({"title": " \u200b\n"}, "title: it is empty"),
        ({"labels": ["x" * 301, "b"]}, r"labels\[0\]: it has 301 characters"),
        ({"unit": "furlongs per fortnight"}, "unit: it has 22 characters"),
        ({"alt": "x" * 2001}, "alt: it has 2,001 characters"),
    ],
)
def test_what_is_wrong_is_told_by_its_name(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolRetry, match=told):
        order_of(asked(**more))


# --------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("value", "unit", "in_full", "in_short"),
    [
        (0, "", "0", "0"),
        (-1234.5, "$", f"{MINUS}$1,234.5", f"{MINUS}$1,234"),
        (999_999.7, "", "999,999.7", "1M"),
        (1_500_000, "users", "1,500,000 users", "1.5M users"),
        (2.5e12, "€", "€2,500,000,000,000", "€2.5T"),
        (1e30, "", "1e30", "1e30"),
        (-1.5e-9, "s", f"{MINUS}1.5e-9 s", f"{MINUS}1.5e-9 s"),
        (0.00012345, "s", "0.000123 s", "0.0001 s"),
        (99.5, "%", "99.5%", "99.5%"),
    ],
)
def test_numbers_read_well(value: float, unit: str, in_full: str, in_short: str) -> None:
    assert (exact(value, unit), short(value, unit)) == (in_full, in_short)


@given(st.floats(-1e30, 1e30), st.floats(1e-6, 1e3))
def test_no_two_ticks_read_alike(start: float, part: float) -> None:
    """Steps that a scale would choose: not finer than what the numbers themselves can hold."""
    step = max(abs(start), 1e-30) * part
    ticks = [start + step * at for at in range(5)]
    if part > 0.01 or (max(map(abs, ticks)) < 1e15 and step >= 1e-6):
        assert len(set(on_axis(ticks, "$"))) == len(set(ticks))


@given(st.lists(st.floats(0, 1e30), min_size=1, max_size=20).filter(any))
def test_a_share_is_a_percentage(values: list[float]) -> None:
    assert all(share(value, sum(values)).endswith("%") for value in values)


@given(st.lists(NUMBERS, min_size=1))
def test_a_scale_holds_every_value(values: list[float]) -> None:
    for low, high in (span_of_bars(values), span_of_lines(values)):
        assert low < high
        assert low <= min(values)
        assert max(values) <= high
    low, high = span_of_bars(values)
    assert low <= 0 <= high


# --------------------------------------------------------------------------------------------------------- letters


@given(st.text())
def test_clean_text_is_one_line_that_utf8_can_hold(text: str) -> None:
    done = clean(text)
    assert done.encode().decode() == done == clean(done)
    assert done.isprintable()


@given(st.text().map(clean), st.floats(0, 2000))
def test_a_cut_text_fits(text: str, room: float) -> None:
    assert wide(cut(text, room, wide)) <= max(room, wide("…"))


@given(st.text(max_size=200).map(clean), st.floats(100, 2000), st.integers(1, 3))
def test_a_wrapped_text_fits(text: str, room: float, lines: int) -> None:
    done = wrapped(text, room, lines, wide)
    assert len(done) <= lines
    assert all(wide(line) <= room for line in done)


@given(st.text(min_size=1).map(clean).filter(bool))
@example("\U0001f3fb")  # the modifier of an emoji that is not there
def test_a_text_is_never_drawn_as_nothing(text: str) -> None:
    latin = {*range(32, 127), 0x25A1}
    assert drawable(text, latin).strip()
    assert {ord(each) for each in drawable(text, latin)} <= latin


# ---------------------------------------------------------------------------------------------------------- labels


@given(
    st.lists(st.text("abc ", max_size=60).map(clean), min_size=1, max_size=500),
    st.booleans(),
)
def test_no_label_touches_the_next(labels: list[str], ordered: bool) -> None:
    slot = 1400 / len(labels)
    done = laid(labels, slot, wide, ordered=ordered)
    lines = [line for text in done.texts for line in text.split("\n")]
    assert done.at[0] == 0
    assert len(done.at) == len(done.texts)
    if done.turned:
        assert slot >= LOWEST
        assert max(map(wide, lines)) <= WIDEST
    elif len(done.at) > 1:
        assert max(map(wide, lines)) + GAP <= slot * (done.at[1] - done.at[0])


def test_days_are_thinned_and_names_are_not() -> None:
    days = [f"2026-03-{day:02d}" for day in range(1, 31)]
    assert laid(days, 46, wide, ordered=True).at == (0, 3, 6, 9, 12, 15, 18, 21, 24, 27)
    assert laid(days, 46, wide, ordered=False).at == tuple(range(30))
    assert laid(["North America", "South"], 120, wide, ordered=False).texts == ("North\nAmerica", "South")


# ------------------------------------------------------------------------------------------------------------ bars


def test_bars_of_one_label_stand_side_by_side() -> None:
    order = Order("bar", "t", ("a", "b"), (Series("x", (1.0, None)), Series("y", (-2.0, 3.0))))
    bars = grouped(order)
    assert [(bar.series, round(bar.at), bar.start, bar.length) for bar in bars] == [
        (0, 0, 0, 1),
        (1, 0, 0, -2),
        (1, 1, 0, 3),
    ]
    assert bars[0].at + bars[0].wide / 2 == pytest.approx(bars[1].at - bars[1].wide / 2)


def test_what_is_below_zero_is_stacked_downwards() -> None:
    order = Order("bar", "t", ("a",), tuple(Series(str(v), (v,)) for v in (1.0, -2.0, 3.0, -4.0)), stacked=True)
    assert [(bar.start, bar.length) for bar in stacked(order)] == [(0, 1), (0, -2), (1, 3), (-2, -4)]


def test_long_names_lie_beside_their_bars() -> None:
    names = tuple(f"A product with a long name {at}" for at in range(6))
    assert lies(Order("bar", "t", names, (Series("", (1.0,) * 6),)))
    assert not lies(Order("bar", "t", names[:3], (Series("", (1.0,) * 3),)))
    assert lies(Order("bar", "t", ("a",), (Series("", (1.0,)),), horizontal=True))


def test_a_pie_has_few_slices_the_greatest_first() -> None:
    order = Order("pie", "t", tuple(map(str, range(50))), (Series("", tuple(float(at) for at in range(50))),))
    found = slices(order)
    assert [each.label for each in found] == ["49", "48", "47", "46", "45", "44", "43", "Other (42)"]
    assert sum(each.value for each in found) == sum(range(50))


# ------------------------------------------------------------------------------------------------------------ words


def test_a_chart_is_told_in_words() -> None:
    order = Order(
        "line", "Sales", ("Jan", "Feb", "Mar"), (Series("North", (3.0, None, 9.0)), Series("South", (1.0,) * 3)), "$"
    )
    assert alt_of(order) == (
        "Line chart “Sales”. 3 labels: Jan to Mar. North: lowest $3 (Jan), highest $9 (Mar), last $9. South: $1 throughout."
    )
    pie = Order("pie", "Mix", tuple("abcdef"), (Series("", (1.0, 5.0, 2.0, 1.0, 1.0, 0.0)),))
    assert alt_of(pie) == "Pie chart “Mix”. b 50% (5), c 20% (2), a 10% (1), d 10% (1), and 2 smaller."


def test_words_for_the_largest_chart_end() -> None:
    series = tuple(Series("n" * 300, tuple(map(float, range(500)))) for _ in range(12))
    assert len(alt_of(Order("line", "t" * 200, ("l" * 300,) * 500, series))) < 2000


# ---------------------------------------------------------------------------------------------------------- colours

# How people without one kind of cone see linear RGB. Source: Machado, Oliveira, Fernandes 2009, severity 1.0.
SIGHTS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def oklab(colour: str, sight: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """Where a colour is in a space in which distances are what people see. Source: Ottosson 2020, "Oklab"."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    seen = [min(max(sum(a * b for a, b in zip(row, light, strict=True)), 0), 1) for row in sight]
    cones = ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
    roots = [sum(a * b for a, b in zip(row, seen, strict=True)) ** (1 / 3) for row in cones]
    axes = ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087))
    return tuple(sum(a * b for a, b in zip(row, roots, strict=True)) for row in axes)


def apart(one: str, other: str, sight: str) -> float:
    pairs = zip(oklab(one, SIGHTS[sight]), oklab(other, SIGHTS[sight]), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart_by_everyone(theme: Theme, sight: str) -> None:
    least = min(apart(one, other, sight) for one, other in combinations(theme.accents, 2))
    first = min(apart(one, other, sight) for one, other in combinations(theme.accents[:3], 2))
    assert least > 0.05  # about two and a half steps that can just be seen
    assert first > 0.09


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())
def test_everything_is_seen_on_its_ground(theme: Theme) -> None:
    """The bounds of WCAG 2.2 for text (4.5), and for what else must be seen (3; 2.7 for the lightest of eight)."""
    assert min(contrast(ink, theme.ground) for ink in (theme.ink, theme.faint)) >= 4.5
    assert min(contrast(accent, theme.ground) for accent in theme.accents) >= 2.7
    assert min(contrast(readable_on(accent), accent) for accent in theme.accents) >= 3
    assert brightness("#FFFFFF") == pytest.approx(1)


# ------------------------------------------------------------------------------------------------------ a table's file


def test_a_table_gives_labels_and_the_columns_that_have_numbers() -> None:
    labels, series = columns_of("\ufeffmonth;sales;by;share\nMay;1,200;Ann;12 %\n\nJune;;Bob;3.5%\n")
    assert labels == ["May", "June"]
    assert series == [{"name": "sales", "values": [1200.0, None]}, {"name": "share", "values": [12.0, 3.5]}]


@pytest.mark.parametrize(
    "text", ["", "a", "a,b", "a,b\nx,y\n", "a,b\nx,\n", "a\n1\n", "\0", "a,b\nx,nan\n", "a,b\nx,1_0\n"]
)
def test_a_file_without_numbers_is_told_as_such(text: str) -> None:
    with pytest.raises(ToolRetry, match="path: the "):
        columns_of(text)
