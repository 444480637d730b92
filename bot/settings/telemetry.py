"""OpenTelemetry's own variables, where our settings leave room for them. Pure: the environment is handed in.

A machine may set these variables for every program on it, so they turn traces on only where the extra is installed: a
program that cannot trace must not fail for a variable that nobody meant for it. Variables that are not named here
(OTEL_EXPORTER_OTLP_HEADERS, …_TIMEOUT, …_CERTIFICATE, OTEL_RESOURCE_ATTRIBUTES) are read by OpenTelemetry itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Final

from bot.settings.sources import Layers

# WHOLE is the address to the last step; BASE is what stands before `/v1/traces`.
BASE: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
WHOLE: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
SERVICE: Final = "OTEL_SERVICE_NAME"
EXTRA: Final = "opentelemetry.exporter.otlp.proto.http"


def is_installed() -> bool:
    """True if the extra `otel` is there. Nothing of it is imported."""
    try:
        return find_spec(EXTRA) is not None
    except ModuleNotFoundError:
        return False


def find_collector(
    layers: Layers, variables: Mapping[str, str], *, installed: Callable[[], bool] = is_installed
) -> None:
    """Take the usual variables where no setting names a collector or the service."""
    named = next((name for name in (WHOLE, BASE) if variables.get(name)), None)
    if named and not layers.get("telemetry.endpoint") and not _is_off(variables) and installed():
        layers.put("telemetry.endpoint", variables[named], source=named)
    if variables.get(SERVICE) and not layers.get("telemetry.service_name"):
        layers.put("telemetry.service_name", variables[SERVICE], source=SERVICE)


def _is_off(variables: Mapping[str, str]) -> bool:
    return variables.get("OTEL_SDK_DISABLED", "").lower() == "true" or variables.get("OTEL_TRACES_EXPORTER") == "none"
