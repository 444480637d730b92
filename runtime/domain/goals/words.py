"""Words of a goal: what agents are told in its turns, the question to whoever set it, and its last words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.domain.goals.contract import (
    MICROS_OF_A_DOLLAR,
    PLAN_FILE,
    PROGRESS_FILE,
    Contract,
    GoalKind,
    counted,
    spanned,
)
from runtime.domain.goals.progress import End, GoalStanding, GoalTurn, Piece
from runtime.domain.quality.gate import bullets, to_make
from runtime.text.glyphs import clip

LAST_ANSWER_MAX_CHARS: Final = 2_000
CRITIQUE_TOLD_CHARS: Final = 2_000
PLAN_TOLD_CHARS: Final = 1_500
CONSTRAINTS_TOLD_CHARS: Final = 1_000
"""Characters of these in the words for an agent, which are bounded."""
CARD_OUTCOME_CHARS: Final = 200
CARD_CRITERION_CHARS: Final = 70
CARD_CRITERIA: Final = 5
CARD_MODEL_CHARS: Final = 60
"""Criteria that the question shows, and characters of each and of the goal."""
ANY_MODEL: Final = "the same model"
HOW_TO_WORK: Final = (
    "[{turn} of {most} for this goal. Do as much of it as you can now. Then say what you did and what came of it, whole: "
    "another agent judges that answer, and files that it names.]"
)
HOW_TO_PLAN: Final = (
    "[Plan the work on this goal in 3 to 7 short steps, one a line. Change nothing, and don't begin it.]"
)
HOW_TO_MAKE_STEPS: Final = (
    '[Plan the work on this goal in 3 to 10 steps, one a line, each with "- " before it. Look at what is there first. Another '
    "agent does them, a few at a time, and reads nothing but your lines. Change nothing, and don't begin it.]"
)
HOW_TO_GO_ON: Final = (
    f"[{PLAN_FILE} has the steps, and {PROGRESS_FILE} what was done so far: read both first. Do the next steps. In {PLAN_FILE} tick "
    f"off what is done and note what whoever goes on must know. {PROGRESS_FILE} is written for you.]"
)


def words_for(at: GoalStanding, piece: Piece) -> str:
    """Words for the agent that plans, works or judges next."""
    contract, turn = at.contract, at.turns[-1] if at.turns and at.turns[-1].verdict is None else None
    match piece:
        case Piece.JUDGE:
            shown = turn.candidate if turn else ""
            return contract.gate.question(contract.outcome, shown, "\n".join(contract.constraints))
        case Piece.PLAN:
            return "\n\n".join([contract.outcome, HOW_TO_PLAN, *_so_far(at)])
        case _:
            number = at.next.number if at.next else 1
            head = HOW_TO_WORK.format(turn=f"{contract.turn_word.capitalize()} {number}", most=contract.turns)
            plan = turn.plan if turn and not turn.failure else bullets(contract.steps)
            told = [HOW_TO_GO_ON] if contract.kind is GoalKind.HARNESS else []
            told += [f"[The plan:]\n{clip(plan, PLAN_TOLD_CHARS)}"] if plan.strip() else []
            return "\n\n".join([contract.outcome, head, *told, *_so_far(at)])


def _so_far(at: GoalStanding) -> list[str]:
    """Constraints to keep to, and what came of the turn before."""
    kept = clip(bullets(at.contract.constraints), CONSTRAINTS_TOLD_CHARS)
    parts = [f"[Keep to:]\n{kept}"] if kept else []
    last = next((turn for turn in reversed(at.turns) if turn.critique), None)
    if last is None:
        return parts
    parts.append(
        f"[Not accepted so far. About the last answer, the judge says:]\n{clip(last.critique, CRITIQUE_TOLD_CHARS)}"
    )
    if last.candidate.strip():
        parts.append(f"[That answer was:]\n{clip(last.candidate.strip(), LAST_ANSWER_MAX_CHARS)}")
    return parts


def steps_words(at: GoalStanding) -> str:
    """Words for the agent that thinks out the steps of long work."""
    return "\n\n".join([at.contract.outcome, HOW_TO_MAKE_STEPS, *_so_far(at)])


def criteria_words(contract: Contract) -> str:
    return to_make(contract.outcome)


def agreement(contract: Contract) -> str:
    """The question to whoever set the goal, with its contract point by point."""
    shown = [clip(one, CARD_CRITERION_CHARS) for one in contract.criteria[:CARD_CRITERIA]]
    more = len(contract.criteria) - len(shown)
    listed = "; ".join(f"{number}) {one}" for number, one in enumerate(shown, 1))
    asks, *points = [
        f"Begin this goal: {clip(' '.join(contract.outcome.split()), CARD_OUTCOME_CHARS)}?",
        f"It's done when: {listed}{f'; and {more} more' if more else ''}.",
        f"Kept to: {clip('; '.join(contract.constraints), CARD_CRITERION_CHARS * 2)}." if contract.constraints else "",
        f"Stopped when: {clip(contract.stop_when, CARD_CRITERION_CHARS)}." if contract.stop_when else "",
        f"It takes {contract.bounds}.",
        f"Judged by {clip(contract.judge, CARD_MODEL_CHARS) or ANY_MODEL}.",
    ]
    return "\n- ".join([asks, *filter(None, points)])


ENDINGS_TOLD: Final[Mapping[End, str]] = {
    End.TURNS: "its {turns} {are} over",
    End.DEADLINE: "its time of {time} is over",
    End.BUDGET: "its budget of {money} is spent",
    End.SENSELESS: "the judge stopped it: {why}",
    End.FAILING: "its turns fail: {why}",
}


def last_words(at: GoalStanding) -> str:
    """Last words that people read: the accepted result, or the best one, which says that it wasn't."""
    contract, goal = at.contract, clip(" ".join(at.contract.outcome.split()), CARD_OUTCOME_CHARS)
    best = at.best
    if at.end is End.DECLINED:
        return f"The goal “{goal}” wasn't begun{f': {at.why}' if at.why else ''}."
    if at.end is End.MET and best:
        head = f"**Goal met** after {counted(len(at.turns), contract.turn_word)}: {goal}"
        return "\n\n".join(filter(None, [head, best.candidate.strip(), unread_told(at)]))
    why = ENDINGS_TOLD[at.end or End.TURNS].format(
        turns=counted(contract.turns, contract.turn_word),
        are="is" if contract.turns == 1 else "are",
        time=spanned(contract.minutes),
        money=f"${contract.budget_micros / MICROS_OF_A_DOLLAR:,.2f}",
        why=at.why,
    )
    title = f"**Goal not met:** {goal}\n\n" if contract.kind is not GoalKind.SPRINTS else ""
    head = f"{title}I stopped, since {why.removesuffix('.')}."
    if best is None:
        return "\n\n".join(filter(None, [f"{head} There's no result to show.", unread_told(at)]))
    return "\n\n".join(filter(None, [head, unread_told(at), marked(best, contract)]))


def marked(best: GoalTurn, contract: Contract) -> str:
    """The best candidate, under a line that says why it was not accepted."""
    critique = " ".join(best.critique.split()) or "nobody judged it"
    return f"Best result, of {contract.turn_word} {best.number}, **not accepted:** {clip(critique, CRITIQUE_TOLD_CHARS)}\n\n{best.candidate.strip()}"


def unread_told(at: GoalStanding) -> str:
    """A line where verdicts could not be read."""
    if not at.unread:
        return ""
    return f"Nobody could read {counted(at.unread, 'verdict')} of the judge; each counted as a fail."
