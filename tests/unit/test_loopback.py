"""Tests reach this machine alone, whichever way they try to go elsewhere."""

from __future__ import annotations

import asyncio
import socket

import pytest

ELSEWHERE = ("192.0.2.1", 9)


async def test_a_test_that_goes_elsewhere_fails() -> None:
    with socket.socket() as plain, socket.socket(type=socket.SOCK_DGRAM) as packets:
        for way in (
            lambda: plain.connect(ELSEWHERE),
            lambda: plain.connect_ex(ELSEWHERE),
            lambda: packets.sendto(b"x", ELSEWHERE),
        ):
            with pytest.raises(AssertionError, match="loopback only"):
                way()
    with pytest.raises(AssertionError, match="loopback only"):
        await asyncio.open_connection(*ELSEWHERE)
