"""The slice of the settings that the web channel needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`hosts` are names other than loopback under which browsers may reach us, with or without a port.

    `upload_bytes` bounds one uploaded file.
    """

    hosts: tuple[str, ...] = ()
    upload_bytes: int = 50 * 1024 * 1024
