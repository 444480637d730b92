"""Owner rights are given, and links of owners made, only by somebody who has shown just now that it is them.

Else a browser that is left open could confirm itself: it would make a link of its own person, or another owner, and open that.
"""

from __future__ import annotations

from typing import Final

from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from runtime.http.errors import Refusal

CONFIRM_FOR_OWNERS: Final = (
    "This gives somebody the rights of an owner, so show once more that it's you: open your own link in this browser, or sign in "
    "again. That holds for ten minutes. On the machine that runs Signalbox, `{command} people` does it without."
)


def must_be_confirmed(has: OperatorContext, actor: Actor) -> None:
    """A command of this machine has shown it by its token. Errors: Refusal 403."""
    live = has.live_settings
    if live is not None and not actor.hand and not live.confirmations.left(actor.session):
        raise Refusal(403, CONFIRM_FOR_OWNERS.format(command=has.command))
