"""Words for people whom a provider doesn't let in, and for those who come back from it."""

from __future__ import annotations

from typing import Final

from runtime.http.errors import Refusal
from runtime.store.protocol.people import Unadmitted
from runtime.text.words import marked, say

NOT_ADMITTED: Final = {
    Unadmitted.UNKNOWN: marked(
        "You're signed in at {called}, but nobody here has the identity {identity}. An owner can add it."
    ),
    Unadmitted.NO_ROLE: marked(
        "You're signed in at {called}, but none of your groups there has a role here. Ask an owner."
    ),
    Unadmitted.BLOCKED: marked("You're signed in at {called}, but you're blocked here. Ask an owner."),
    Unadmitted.STALE: marked(
        "Nobody here has the identity {identity}, and this token is too old to make somebody. Get a new one."
    ),
}
PROVIDER_AWAY: Final = marked(
    "{called} can't be asked whether you may come in: it {why}. Try again in a few seconds. Links of Signalbox itself "
    "still work."
)
PROVIDER_REFUSED: Final = marked("The sign-in at {called} didn't work: {why}. Sign in again.")
SESSION_OVER: Final = marked("You're signed out. Sign in again at {called}.")
OTHER_SIGN_IN: Final = marked(
    "This sign-in was begun in another browser, was finished already, or took longer than ten minutes. Sign in again."
)
CANCELLED: Final = marked("{called} didn't sign you in ({why}). Sign in again.")
BEARER_REFUSED: Final = marked("This token {why}.")
NO_BEARERS: Final = marked("Tokens of {called} aren't accepted here: auth.audience isn't set.")
BEARER_AWAY: Final = marked("{called} can't be asked about this token: it {why}. Try again in a few seconds.")


def not_admitted(why: Unadmitted, called: str, identity: str) -> str:
    return say(NOT_ADMITTED[why], called=called, identity=identity)


def away(called: str, why: object, words: str = PROVIDER_AWAY) -> Refusal:
    """Closed, not open: nobody comes in while nobody can say whether they may. Addresses of ours stay in the audit."""
    return Refusal(503, say(words, called=called, why=str(why).partition(" (")[0]))
