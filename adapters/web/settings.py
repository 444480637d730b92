"""The slice of the settings that the web channel needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`hosts` are names other than loopback under which browsers may reach us, with or without a port.

    `upload_bytes` bounds one uploaded file. `command` is how this program is called on its machine.
    """

    hosts: tuple[str, ...] = ()
    upload_bytes: int = 50 * 1024 * 1024
    command: str = "signalbox"
