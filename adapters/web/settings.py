"""The slice of the settings that the web channel needs."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.http.authentication import NO_LAYER, SecondLayer


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`hosts` are names other than loopback under which browsers may reach us, with or without a port.

    `upload_bytes` bounds one uploaded file. `command` is how this program is called on its machine.
    `second` is a provider at which people may sign in, too. `version` is the program's.
    """

    hosts: tuple[str, ...] = ()
    upload_bytes: int = 50 * 1024 * 1024
    command: str = "signalbox"
    second: SecondLayer = NO_LAYER
    version: str = ""
