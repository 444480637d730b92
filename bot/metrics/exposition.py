"""Our numbers in the formats of Prometheus. The only importer of prometheus_client, itself imported by the first look.

Loading the library costs about 10 ms and 1 MB, which the start of the process and one that nobody watches do not pay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from bot.metrics.gauges import Reading
from bot.metrics.tally import Counter, Gauge, Histogram

Encode = Callable[[Collector], bytes]

INFINITE: Final = "+Inf"


class Exposition(Collector):
    """One page: what is counted, the readings of this look, and what the process itself uses."""

    def __init__(self, counted: Sequence[Counter | Histogram]) -> None:
        self._counted = counted
        self._readings: Iterable[Reading] = ()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def page(self, readings: Iterable[Reading], accept: str) -> tuple[bytes, str]:
        """The page and its content type, in the format that the header `accept` asks for."""
        self._readings = readings
        encode, content_type = _encoder(accept)
        return encode(self._registry), content_type

    def collect(self) -> Iterator[Metric]:
        for metric in self._counted:
            yield _counter(metric) if isinstance(metric, Counter) else _histogram(metric)
        yield from _gauges(self._readings)


def _encoder(accept: str) -> tuple[Encode, str]:
    try:
        return choose_encoder(accept)
    except TypeError:  # it compares versions, and this one is no number
        return generate_latest, CONTENT_TYPE_PLAIN_0_0_4


def _counter(counter: Counter) -> Metric:
    family = CounterMetricFamily(counter.name, counter.help, labels=counter.labels)
    for labels, value in counter:
        family.add_metric(labels, value)
    return family


def _histogram(histogram: Histogram) -> Metric:
    family = HistogramMetricFamily(histogram.name, histogram.help, labels=histogram.labels)
    bounds = [*map(floatToGoString, histogram.bounds), INFINITE]
    for labels in histogram:
        buckets = zip(bounds, accumulate(histogram.counts(*labels)), strict=True)
        family.add_metric(labels, [(bound, float(count)) for bound, count in buckets], histogram.sum(*labels))
    return family


def _gauges(readings: Iterable[Reading]) -> Iterable[Metric]:
    families: dict[Gauge, GaugeMetricFamily] = {}
    for gauge, labels, value in readings:
        if gauge not in families:
            families[gauge] = GaugeMetricFamily(gauge.name, gauge.help, labels=gauge.labels)
        families[gauge].add_metric(labels, value)
    return families.values()
