"""Classes of which a plain message makes objects, from its arrival until its answer is shown.

A process writes what makes them with the first object (`bot.node.lean_classes`), which takes a third of a millisecond each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.metrics.answers import Answer as TimedAnswer
from runtime.agent.offering import Offered
from runtime.agent.run_state import LiveRun
from runtime.agent.surroundings import Standing
from runtime.context.builder import Partitions, RunFacts
from runtime.context.prompt.here import Here
from runtime.context.prompt.prompts import Prompted
from runtime.contract import (
    AssistantTurn,
    Content,
    Delivery,
    Entry,
    ModelReply,
    ModelRequest,
    Part,
    Receipt,
    Resting,
    Said,
    Signal,
    Speaking,
    Thinking,
    Usage,
    Verdict,
    Wire,
)
from runtime.markup.attachment import Abridged
from runtime.models.draft import Draft
from runtime.models.litellm_model import Answer
from runtime.store.protocol import (
    Below,
    Claim,
    History,
    Lane,
    NewDelivery,
    Offer,
    OpenDelivery,
    OpenPart,
    Released,
    Rendered,
    Taken,
)

CLASSES: Final[Sequence[type]] = (
    *(Said, Signal, Offer, Verdict, Taken),
    *(Lane, Claim, Below, History, LiveRun, Thinking),
    *(Standing, Offered, Here, Prompted, RunFacts, Partitions, Entry),
    *(ModelRequest, Draft, Usage, ModelReply, Answer, AssistantTurn, Speaking),
    *(Content, Abridged, NewDelivery, Delivery, Wire, Part, Rendered, Released),
    *(OpenDelivery, OpenPart, Receipt, Resting, TimedAnswer),
)
"""As it is taken in, claimed, understood, answered, put down and shown."""
