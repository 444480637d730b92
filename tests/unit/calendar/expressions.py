"""Expressions, zones and moments to try things with."""

from __future__ import annotations

from datetime import datetime
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

ZONES: Final = sorted(set(files("tzdata").joinpath("zones").read_text("utf-8").split()) - {"Factory"})

zones = st.sampled_from(ZONES)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=zones.map(ZoneInfo)).map(  # noqa: DTZ001 - hypothesis adds the zone
    lambda at: at.replace(microsecond=0)
)


def _items(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    spans = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.integers(1, high - low)
    stepped = st.tuples(st.just("*") | spans, steps).map(lambda pair: f"{pair[0]}/{pair[1]}")
    return st.one_of(st.just("*"), number.map(str), spans, stepped)


def _fields(low: int, high: int) -> st.SearchStrategy[str]:
    return st.lists(_items(low, high), min_size=1, max_size=3).map(",".join)


crons = st.tuples(_fields(0, 59), _fields(0, 23), _fields(1, 28), _fields(1, 12), _fields(0, 6)).map(" ".join)
"""Right ones; no day that some month lacks, so that none names dates that no year has."""
