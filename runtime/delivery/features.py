"""What a channel offers beside its contract, as its courier takes it.

Found once and handed on: whoever watches an adapter wraps it in another, which hides these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Address, Bucket, Capability, ChannelAdapter, Drafts, HasFloor, HasRates, Types

TELLS: Final = frozenset({Capability.SETTLE, Capability.STORED})
"""Capabilities that let a channel tell whether something is on screen."""


def no_floor(address: Address) -> str:
    """Of a channel that settles without one."""
    return ""


@dataclass(frozen=True, slots=True)
class Features:
    """`buckets` is None where nothing bounds how much may be sent.

    `looks_at_once`: a key or a look-up settles a part, so it may be looked for as soon as it is in doubt.
    """

    floor: Callable[[Address], str] = no_floor
    buckets: Callable[[Address], Sequence[Bucket]] | None = None
    types: Types | None = None
    drafts: Drafts | None = None
    looks_at_once: bool = False


PLAIN = Features()


def extras_of(adapter: ChannelAdapter) -> Features:
    """Those of an adapter that nothing wraps yet."""
    return Features(
        floor=adapter.floor if isinstance(adapter, HasFloor) else no_floor,
        buckets=adapter.buckets if isinstance(adapter, HasRates) else None,
        types=adapter if isinstance(adapter, Types) else None,
        drafts=adapter if isinstance(adapter, Drafts) else None,
        # A channel with a floor counts ids above it: all that was sent meanwhile must have had time to arrive.
        looks_at_once=bool(adapter.capabilities & TELLS) and not isinstance(adapter, HasFloor),
    )
