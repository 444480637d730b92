"""The guarded HTTP client: every request that a tool, a webhook or a download sends goes through one `Egress`.

    address -> Place -> rules -> look-up -> every address judged -> those addresses dialled -> Response
                 ^                                                                                |
                 +------------------------------- a redirect begins anew -------------------------+

Nothing is sent before all of it was passed, and the addresses that were judged are the ones that are dialled: a name that
means another address a moment later gains nothing.
"""

from __future__ import annotations

from runtime.egress.addresses import Opening, special
from runtime.egress.client import Admitted, Egress, Response
from runtime.egress.errors import NoAnswer, Refused, Why
from runtime.egress.lookup import LookUp, SystemLookUp
from runtime.egress.rules import Result, Rule

__all__ = [
    "Admitted",
    "Egress",
    "LookUp",
    "NoAnswer",
    "Opening",
    "Refused",
    "Response",
    "Result",
    "Rule",
    "SystemLookUp",
    "Why",
    "special",
]
