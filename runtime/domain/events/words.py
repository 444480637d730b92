"""Words of events: one for each kind of row in the audit.

An event has no row of its own: its number is that of the audit's row. A kind without a line here is no event, and
`tests/unit/events/test_words.py` finds each kind in the source that has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class EventWord:
    """`text` says what happened. `room` names the field of the row that holds its room, where one does."""

    word: str
    text: str
    room: str = ""


ROOM_IN_DETAIL: Final = "detail"
ROOM_IN_SUBJECT: Final = "subject"

OF_NODES: Final = {
    "node joined": EventWord("node.joined", "A process began to work."),
    "node left": EventWord("node.left", "A process ended its work and gave back what it held."),
    "node drained": EventWord("node.drained", "A process that was asked to end brought its runs to a good place."),
    "node lost": EventWord(
        "node.lost", "A process gave no sign for longer than its lease. Others go on with its work."
    ),
    "node asked to drain": EventWord(
        "node.drain_asked", "An operator asked a process to take nothing more in, and to leave."
    ),
    "node removed": EventWord("node.removed", "An operator gave up a process that doesn't come back."),
    "roles handed over": EventWord(
        "node.roles_handed_over", "An account went over to a process that its platform answers."
    ),
    "clock set": EventWord("node.clock_set", "The clock was set. What waits for its time was moved with it."),
    "started without guardrails": EventWord("node.unguarded", "A process began without the leak guard."),
    "settings changed": EventWord("settings.changed", "An owner changed settings in the page."),
    "settings kept": EventWord("settings.kept", "A change of settings was taken back, since it couldn't be taken up."),
    "secret set": EventWord("secret.set", "An owner had a key or token sealed in the page."),
    "confirmed": EventWord("settings.confirmed", "An owner confirmed who they are, to change settings."),
    "not confirmed": EventWord("settings.not_confirmed", "Somebody couldn't confirm that they are an owner."),
    "reloaded": EventWord("settings.reloaded", "The settings were read again."),
    "restored": EventWord("node.restored", "A backup was restored."),
    "audit key": EventWord("audit.key_added", "A process signs the audit with a key of its own from now on."),
    "audit redacted": EventWord("audit.redacted", "Rows of the audit lost a person who is being forgotten."),
    "audit cut": EventWord("audit.cut", "Old rows of the audit were removed, under a signed checkpoint."),
}
OF_SESSIONS: Final = {
    "asked": EventWord("session.asked", "A message was taken in for an agent.", ROOM_IN_DETAIL),
    "stale": EventWord("session.stale", "A message came too late to be answered.", ROOM_IN_DETAIL),
    "refused": EventWord("session.refused", "A message of somebody unknown, or without the right to it, was refused."),
    "not answered": EventWord("session.unanswered", "A message that waited won't be answered."),
    "amended": EventWord("session.amended", "A message was edited before its run began.", ROOM_IN_DETAIL),
    "room moved": EventWord("session.moved", "The platform gave a room another address.", ROOM_IN_SUBJECT),
    "folder lent": EventWord(
        "session.folder_lent", "A conversation works in a folder of somebody's own, by a command.", ROOM_IN_SUBJECT
    ),
    "begun anew": EventWord("session.begun_anew", "A conversation was begun anew.", ROOM_IN_DETAIL),
    "conversation deleted": EventWord("session.deleted", "Somebody deleted a conversation of theirs.", ROOM_IN_DETAIL),
    "conversation imported": EventWord(
        "session.imported", "A copy of a conversation was taken in. Nothing in it runs.", ROOM_IN_SUBJECT
    ),
    "conversation restored": EventWord("session.restored", "A deleted conversation was taken back.", ROOM_IN_SUBJECT),
    "conversation removed": EventWord("session.removed", "Nothing is left of a deleted conversation.", ROOM_IN_SUBJECT),
    "condensed": EventWord("session.condensed", "A conversation was condensed."),
    "conversation unreadable": EventWord(
        "session.unreadable", "A conversation waits, since a row of it can't be read. Others go on."
    ),
    "conversation handed over": EventWord("session.handed_over", "A conversation went over to another agent."),
    "mode set": EventWord("session.mode_set", "The mode of a conversation was set.", ROOM_IN_SUBJECT),
    "model chosen": EventWord("session.model_chosen", "A model was chosen for a conversation.", ROOM_IN_SUBJECT),
    "agent chosen": EventWord("session.agent_chosen", "An agent was chosen for a room.", ROOM_IN_SUBJECT),
}
OF_RUNS: Final = {
    "run failed": EventWord("run.failed", "A run ended with an error."),
    "stop": EventWord("run.stopped", "Somebody asked to stop the work in a room, or one piece of it.", ROOM_IN_DETAIL),
    "interrupt": EventWord("run.interrupted", "A newer message ended a run.", ROOM_IN_DETAIL),
    "set aside": EventWord("run.set_aside", "A run was set aside, since processes died while working on it."),
    "child spawned": EventWord("run.handed_on", "A piece of work was handed to another agent."),
    "child ended": EventWord("run.piece_ended", "A piece of work that was handed on ended."),
}
OF_TOOLS: Final = {
    "tool ran": EventWord("tool.succeeded", "A call ran, and its result is recorded."),
    "tool failed": EventWord("tool.failed", "A call ran and failed; the agent was told."),
    "call refused by a rule": EventWord("tool.blocked", "A call was not made: a rule denies it."),
    "call allowed by mode": EventWord("tool.allowed", "A call ran unasked, by the mode of its conversation."),
    "interceptor asked": EventWord("interceptor.asked", "An interceptor wants people asked about a call."),
    "interceptor denied": EventWord("interceptor.denied", "An interceptor stopped a call, a request or an answer."),
    "interceptor replaced": EventWord("interceptor.replaced", "An interceptor put something else in its place."),
    "interceptor failed": EventWord("interceptor.failed", "An interceptor gave no answer that can be used."),
    "tool changed": EventWord("tool.changed", "An MCP server describes a tool in other words than before."),
    "tool accepted": EventWord("tool.accepted", "A tool's new description was accepted."),
    "leak guard": EventWord("guard.found", "The leak guard found something.", ROOM_IN_SUBJECT),
    "leak guard scan": EventWord("guard.scanned", "Stored texts were looked through."),
    "process started": EventWord("process.started", "An agent began a process.", ROOM_IN_DETAIL),
    "process ended": EventWord("process.ended", "A process came to its end."),
    "process late": EventWord("process.late", "A process was ended: its time was over."),
    "process stopped": EventWord("process.stopped", "A process was stopped."),
    "process lost": EventWord("process.lost", "A process ended with its node: Signalbox was stopped or killed there."),
}
OF_QUESTIONS: Final = {
    "approval asked": EventWord("approval.asked", "People are asked whether a call may run, or another question."),
    "approval vote": EventWord("approval.voted", "One of several answers that a question needs was given."),
    "approval approved": EventWord("approval.approved", "A call was approved."),
    "approval denied": EventWord("approval.denied", "A call was denied."),
    "approval answered": EventWord("approval.answered", "A question was answered."),
    "approval expired": EventWord("approval.expired", "Nobody answered a question in time."),
    "approval void": EventWord("approval.withdrawn", "A question was withdrawn."),
    "approval edited": EventWord("approval.edited", "The arguments of a call were changed on its card."),
    "approval called": EventWord("approval.reminded", "People were reminded of an open question."),
    "approval asked back": EventWord("approval.asked_back", "An approver asked the agent about a call."),
    "asked back answered": EventWord("approval.asked_back_answered", "The agent answered an approver."),
    "asked back failed": EventWord("approval.asked_back_failed", "The agent couldn't answer an approver."),
    "click refused": EventWord("approval.click_refused", "Somebody pressed a button that isn't theirs to press."),
    "grant given": EventWord("grant.given", "A standing yes was given."),
    "grant used": EventWord("grant.used", "A call ran by a standing yes."),
    "grant ended": EventWord("grant.ended", "A standing yes ended."),
    "grant revoked": EventWord("grant.revoked", "A standing yes was taken back."),
    "undo wanted": EventWord("undo.wanted", "Somebody asked to take a call back."),
    "undo done": EventWord("undo.done", "A call was taken back."),
    "undo cut off": EventWord("undo.cut_off", "Nobody knows whether a call was taken back: its process ended."),
    "undo refused": EventWord("undo.refused", "A call wasn't taken back; the detail says why."),
}
OF_SCHEDULES: Final = {
    "schedule added": EventWord("schedule.added", "A schedule was made."),
    "schedule changed": EventWord("schedule.changed", "A schedule was changed."),
    "schedule pause": EventWord("schedule.paused", "A schedule was paused."),
    "schedule resume": EventWord("schedule.resumed", "A schedule goes on."),
    "schedule end": EventWord("schedule.ended", "A schedule reached its end."),
    "schedule remove": EventWord("schedule.removed", "A schedule was removed."),
    "schedule fired": EventWord("schedule.fired", "A schedule was due, and its work began."),
    "schedule run": EventWord("schedule.run", "Somebody had a schedule or a report run now."),
    "zone set": EventWord("schedule.zone_set", "A time zone was set."),
    "trigger added": EventWord("trigger.added", "A trigger was made."),
    "trigger changed": EventWord("trigger.changed", "A trigger was changed."),
    "trigger ended": EventWord("trigger.ended", "A trigger ended."),
    "trigger paused": EventWord("trigger.paused", "A trigger was paused by a person."),
    "trigger resumed": EventWord("trigger.resumed", "A trigger that had been stopped goes on."),
    "trigger fired": EventWord("trigger.fired", "Something happened that a trigger waits for."),
    "trigger stopped": EventWord("trigger.stopped", "A trigger fired too often, and was stopped."),
    "workflow begun": EventWord("workflow.started", "A workflow began."),
    "workflow ended": EventWord("workflow.ended", "A workflow or a goal ended; the detail says how."),
}
OF_WORK: Final = {
    "skill written": EventWord("skill.written", "A skill that an agent proposed was written, as an owner approved."),
    "skill accepted": EventWord("skill.accepted", "A skill was accepted."),
    "skill changed": EventWord("skill.changed", "Another form of a skill was accepted."),
    "skill waits": EventWord("skill.waiting", "A skill waits for an owner's word."),
    "skill left out": EventWord("skill.left_out", "An owner left a form of a skill out."),
    "skill removed": EventWord("skill.removed", "A skill was given up."),
    "sign-in made": EventWord("login.made", "Somebody signed in at an issuer of tokens."),
    "sign-in dropped": EventWord("login.dropped", "Somebody signed out at an issuer of tokens."),
    "sign-in renewed": EventWord("login.renewed", "The token of a sign-in was renewed."),
    "sign-in refused": EventWord("login.refused", "The token of a sign-in was refused."),
    "sign-in ended": EventWord("login.ended", "A sign-in only works again once somebody signs in."),
    "secret used": EventWord("secret.used", "A call or a script was lent a secret."),
    "skill used": EventWord("skill.used", "A skill was given to a run."),
    "task posted": EventWord("task.posted", "A task was posted."),
    "task begun": EventWord("task.begun", "Work on a task in the background began."),
    "task claim": EventWord("task.claimed", "An agent took a task."),
    "task complete": EventWord("task.completed", "A task is done."),
    "task fail": EventWord("task.failed", "A task failed."),
    "task give back": EventWord("task.given_back", "A task that was taken is open again."),
    "task drop": EventWord("task.dropped", "A task was dropped."),
    "task retry": EventWord("task.retried", "A task is tried again."),
    "agent.spawned": EventWord("agent.spawned", "An agent was made in a chat."),
    "agent.suspended": EventWord("agent.suspended", "An agent was suspended."),
    "agent.resumed": EventWord("agent.resumed", "An agent works again."),
    "agent.terminated": EventWord("agent.terminated", "An agent was ended for good."),
    "model benched": EventWord("model.benched", "A model rests, since it failed."),
    "model well": EventWord("model.well", "A model is well again."),
    "budget spent": EventWord("budget.spent", "A budget is spent."),
    "budget nearly spent": EventWord("budget.nearly_spent", "A budget is nearly spent."),
}
OF_DELIVERIES: Final = {
    "shown": EventWord("delivery.sent", "Every part of an answer, card or report is on screen.", ROOM_IN_DETAIL),
    "delivery give-up": EventWord("delivery.failed", "An answer, card or report couldn't be shown.", ROOM_IN_DETAIL),
    "delivery hold": EventWord("delivery.held", "Nobody can tell whether a message is on screen.", ROOM_IN_DETAIL),
    "delivery discard": EventWord("delivery.discarded", "A message was thrown away.", ROOM_IN_DETAIL),
    "delivery split": EventWord("delivery.split", "A part went as several messages."),
    "requeued": EventWord("delivery.requeued", "A message is tried again."),
    "discarded": EventWord("delivery.discarded", "A message was thrown away."),
}
OF_PEOPLE: Final = {
    "token made": EventWord("token.made", "A program got a token."),
    "token revoked": EventWord("token.revoked", "A token was revoked."),
    "push dropped": EventWord("push.dropped", "A place for push notifications was given up: it took none for long."),
    "token in an address": EventWord("token.exposed", "A token came in an address, and was refused."),
    "person added": EventWord("person.added", "A person became known."),
    "person renamed": EventWord("person.renamed", "A person was renamed."),
    "person removed": EventWord("person.removed", "A person was removed."),
    "person forgotten": EventWord("person.forgotten", "A person is being forgotten."),
    "forgetting ended": EventWord("person.gone", "A person was forgotten: nothing of them is left."),
    "forgetting asked": EventWord("person.asked_to_be_forgotten", "Somebody asks to be forgotten; an owner does it."),
    "forgetting withdrawn": EventWord("person.wants_to_stay", "Somebody no longer asks to be forgotten."),
    "person exported": EventWord("person.exported", "All that is known of a person was exported."),
    "person merged": EventWord("person.merged", "Two entries of one person became one."),
    "role set": EventWord("person.role_set", "A person's role was set."),
    "link made": EventWord("person.link_made", "A link to sign in was made."),
    "link used": EventWord("person.signed_in", "A person signed in."),
    "signed out": EventWord("person.signed_out", "A person was signed out."),
    "invitation made": EventWord("invitation.made", "An owner made a link by which one person may join."),
    "invitation revoked": EventWord("invitation.revoked", "An invitation was revoked."),
    "invitation used": EventWord("invitation.used", "Somebody joined by an invitation."),
    "browser dropped": EventWord("push.browser_dropped", "A browser gets no notifications any more."),
    "turned away": EventWord("person.turned_away", "Somebody who came with a provider's word wasn't let in."),
    "identity added": EventWord("person.identity_added", "A person got one more identity."),
    "away": EventWord("person.away", "A person is away."),
    "back": EventWord("person.back", "A person is back."),
    "paired": EventWord("person.paired", "A pairing code was accepted."),
    "pairing offered": EventWord("person.pairing_offered", "Somebody unknown got a pairing code.", ROOM_IN_SUBJECT),
    "pairing refused": EventWord("person.pairing_refused", "A wrong pairing code was entered."),
    "feedback given": EventWord("feedback.given", "A person rated a message of the agent.", ROOM_IN_DETAIL),
    "feedback taken back": EventWord("feedback.taken_back", "A person took a rating back.", ROOM_IN_DETAIL),
}
OF_MEMORY: Final = {
    "memory kept": EventWord("memory.kept", "Something was remembered."),
    "memory accepted": EventWord("memory.accepted", "Something that was proposed is remembered."),
    "memory forgotten": EventWord("memory.forgotten", "Something that was remembered is forgotten."),
    "memories forgotten": EventWord(
        "memory.all_forgotten", "All that was remembered of somebody or something is forgotten."
    ),
    "memory pinned": EventWord("memory.pinned", "Something remembered stays in sight."),
    "memory unpinned": EventWord("memory.unpinned", "Something remembered need not stay in sight."),
    "summary written": EventWord("memory.summary_written", "A person's summary was written."),
    "summary renewed": EventWord("memory.summary_renewed", "A person's summary was renewed."),
    "summary turned on": EventWord("memory.summary_on", "A person wants a summary."),
    "summary turned off": EventWord("memory.summary_off", "A person wants no summary."),
}

GROUPS: Final[Mapping[str, Mapping[str, EventWord]]] = {
    "Processes and settings": OF_NODES,
    "Conversations": OF_SESSIONS,
    "Runs": OF_RUNS,
    "Calls": OF_TOOLS,
    "Questions and grants": OF_QUESTIONS,
    "Schedules, triggers and workflows": OF_SCHEDULES,
    "Skills, tasks, agents and models": OF_WORK,
    "What is shown": OF_DELIVERIES,
    "People and feedback": OF_PEOPLE,
    "Memory": OF_MEMORY,
}
"""Groups of the table in docs/events.md, with their kinds of rows."""

EVENT_WORDS: Final[Mapping[str, EventWord]] = {kind: one for group in GROUPS.values() for kind, one in group.items()}
"""The word for each kind of row."""

OF_ONE_RUN: Final = {
    "run.started": "The run began.",
    "run.resumed": "Another process went on with it, or this one after a wait.",
    "run.parked": "It waits for people, and others are served meanwhile.",
    "run.done": "It ended with a reply.",
    "run.failed": "It ended with an error.",
    "run.stopped": "It was stopped.",
    "run.noted": "Something else happened to it; the words say what.",
    "message.accepted": "A message that it answers was taken in.",
    "message.joined": "A message joined it while it was at work.",
    "model.answered": "The model answered: with a reply, or with calls.",
    "tool.started": "A call began.",
    "tool.succeeded": "A call ended with a result.",
    "tool.failed": "A call ended with an error, which the agent was told.",
    "tool.blocked": "A call was not made.",
    "approval.asked": "People were asked.",
    "approval.decided": "A question was answered.",
    "approval.expired": "Nobody answered in time.",
    "approval.withdrawn": "A question was withdrawn.",
    "delivery.queued": "An answer, card or report is to be shown.",
    "delivery.retried": "A part certainly wasn't shown, and is tried again.",
    "delivery.checkpoint": "A part is on screen, and the platform's id of it is recorded.",
    "delivery.doubt": "Nobody knows yet whether a part is on screen.",
    "delivery.failed": "A part or all of it couldn't be shown.",
}
"""Words of the events of one run, which are read from its rows and numbered then."""
