// All that the page's script says to people, in one place, to be read in one go. What stands there from the start is in
// index.html; what the server answers comes as it is. How a text is written so that it's translated: docs/languages.md.

import { count, language, languages, locale, many, t } from "./language.js";

const seconds = (told) => {
  const number = Math.max(told, 0.01); // nothing takes no time
  if (number < 60) return `${number.toLocaleString(locale, { maximumFractionDigits: number < 1 ? 2 : 1 })} s`;
  const whole = Math.round(number);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

export const words = {
  // conversations
  newConversation: t("New conversation"),
  untitled: t("Untitled"),
  questions: (number) => many("{number} question for you", "{number} questions for you", number),
  welcome: (name) => t("What can I do for you, {name}?", { name }),
  pinned: t("Pinned"),
  earlierRooms: t("Earlier"),
  archived: t("Archived"),
  unread: t("New messages"),
  roomMenu: (title) => t("More for \"{title}\"", { title }),
  rename: t("Rename"),
  downloadText: t("Download as text"),
  downloadFile: t("Download as a file to import"),
  importFile: t("Import a conversation"),
  importTooLarge: t("This file is too large to be a conversation."),
  importNoFile: t("This file is no conversation of Signalbox."),
  pin: t("Pin"),
  unpin: t("Unpin"),
  archive: t("Archive"),
  unarchive: t("Take out of the archive"),
  deleteRoom: t("Delete"),
  deleted: (title) => t("Deleted \"{title}\".", { title }),
  putAway: (title) => t("Archived \"{title}\".", { title }),
  undo: t("Undo"),
  nameOf: t("Name of this conversation"),
  save: t("Save"),
  setUpModel: t("Set up a model"),
  close: t("Close"),
  justNow: t("just now"),
  today: t("Today"),
  yesterday: t("Yesterday"),
  console: t("Console"),

  otherLanguages: Object.entries(languages).filter(([name]) => name !== language),

  // the connection
  connecting: t("Connecting…"),
  reconnecting: t("Reconnecting…"),
  notConnected: t("Not connected"),
  offline: t("You're offline"),
  away: t("Signalbox isn't answering right now."),
  answered: (status) => t("Signalbox answered with error {status}. Try again in a moment.", { status }),
  uploadCut: t("The upload was interrupted. Try again."),

  // messages
  you: t("You, "),
  sent: t("Sent"),
  edited: t("edited"),
  cameToNothing: t("failed"),
  ofSchedule: (name) => t("from the schedule \"{name}\"", { name }),
  saidAgain: { again: t("asked again"), edited: t("edited") },
  retry: t("Try again"),
  retryWhy: t("Answer this anew"),
  editMessage: t("Edit and send again"),
  earlierAnswer: (number, all) => t("Earlier answer ({number} of {all})", { number, all }),
  earlierMessage: (number, all) => t("Before you edited it ({number} of {all})", { number, all }),
  reactedWith: t("Marked with"),
  rate: { up: t("Good answer"), down: t("Bad answer") },
  rateWhy: { up: t("What was good about it? (optional)"), down: t("What was wrong with it? (optional)") },
  rateSend: t("Send"),
  rated: t("Thanks for telling us."),
  sending: t("Sending…"),
  waiting: t("Not sent yet, still trying."),
  failed: t("Couldn't send this."),
  notTaken: t("Signalbox didn't accept this message."),
  tooLong: (limit) => t("This message is too long: at most {limit} characters. Attach the text as a file instead.", { limit: count(limit) }),
  tryNow: t("Try now"),
  tryAgain: t("Try again"),
  edit: t("Edit"),
  discard: t("Discard"),
  copy: t("Copy"),
  copyCode: t("Copy this code"),
  copied: t("Copied"),
  copyByHand: t("Press Ctrl+C"),
  table: t("Table"),
  tools: t("With this message"),
  copyMessage: t("Copy this message"),
  quote: t("Quote this message"),
  copyLink: t("Copy a link to this message"),
  gone: t("That message can't be shown: it's gone."),
  openInTab: t("Open in a tab"),
  closePicture: t("Close the picture"),
  previousPicture: t("Previous picture"),
  nextPicture: t("Next picture"),
  pictureOf: (name, number, all) => t("{name} ({number} of {all})", { name, number: count(number), all: count(all) }),

  // going places
  foundIn: (who, title) => (who ? t("{who}, in {title}", { who, title }) : title),
  keys: {
    title: t("Keys"),
    close: t("Close"),
    rows: [
      [["Enter"], t("Send")],
      [["Shift", "Enter"], t("Begin a new line")],
      [["Ctrl", "K"], t("Go to a conversation or page (⌘ K on a Mac)")],
      [["N"], t("New conversation")],
      [["Z"], t("Take back a deletion, while its line stands")],
      [["I"], t("Approvals that wait for you")],
      [["A"], t("Approve the card in focus, in Approvals")],
      [["D"], t("Deny the card in focus, in Approvals")],
      [["J"], t("Next card, in Approvals (or the arrow down)")],
      [["K"], t("Previous card, in Approvals (or the arrow up)")],
      [["X"], t("Select the card in focus, to decide several at once")],
      [["/"], t("Write")],
      [["Esc"], t("Close what is open")],
      [["?"], t("This list")],
    ],
  },
  consolePages: [
    ["/console", t("Console: overview")],
    ["/console/approvals", t("Console: approvals")],
    ["/console/grants", t("Console: grants")],
    ["/console/runs", t("Console: runs")],
    ["/console/outbox", t("Console: outbox")],
    ["/console/reports", t("Console: reports")],
    ["/console/schedules", t("Console: schedules")],
    ["/console/tasks", t("Console: tasks")],
    ["/console/children", t("Console: handed on")],
    ["/console/workflows", t("Console: workflows")],
    ["/console/goals", t("Console: goals")],
    ["/console/triggers", t("Console: triggers")],
    ["/console/memory", t("Console: memory")],
    ["/console/skills", t("Console: skills")],
    ["/console/knowledge", t("Console: knowledge")],
    ["/console/agents", t("Console: agents")],
    ["/console/models", t("Console: models")],
    ["/console/people", t("Console: people")],
    ["/console/tokens", t("Console: tokens")],
    ["/console/settings", t("Console: settings")],
    ["/console/trace", t("Console: trace")],
    ["/console/events", t("Console: events")],
    ["/console/feedback", t("Console: feedback")],
    ["/console/health", t("Console: health")],
    ["/console/logs", t("Console: logs")],
  ],

  // a summary
  summary: ({ turns, kind, model, before, after, since, until, made_at }) => ({
    title: kind === "handoff"
      ? many("Restarted from a handoff: {number} turn", "Restarted from a handoff: {number} turns", turns)
      : many("Summary of {number} turn", "Summary of {number} turns", turns),
    facts: kind === "extract"
      ? t("From {since} to {until}. An extract with a line for each turn, made {made_at}: about {before} tokens before, {after} after. The model reads this instead of the messages above.", { since, until, made_at, before: count(before), after: count(after) })
      : t("From {since} to {until}. Written by {model}, made {made_at}: about {before} tokens before, {after} after. The model reads this instead of the messages above.", { since, until, model: model || t("the model"), made_at, before: count(before), after: count(after) }),
  }),

  // cards
  needsApproval: t("Needs approval"),
  needsAnswer: t("Needs an answer"),
  waitsElsewhere: t("Waiting for somebody else"),
  denyWithReason: "Deny with a reason…",
  cancel: t("Cancel"),
  signOut: t("Sign out"),
  myData: t("My data"),
  roles: { owner: t("owner"), operator: t("operator"), user: t("user"), viewer: t("viewer") },
  signOutUnsent: t("Some messages aren't sent yet. If you sign out now, they're lost. Sign out?"),
  sendingAnswer: t("Sending your answer…"),
  answerTaken: t("Got your answer."),

  // the mode of a conversation
  modes: {
    "read-only": () => t("Read-only: I can read here, but not change anything."),
    plan: () => t("Plan: I ask once about everything I want to change, then start."),
    trusted: ({ trusted, until }) => t("Trusted until {until}: {trusted}'s changes don't need approval, unless they're dangerous.", { trusted, until }),
  },

  // the inbox
  approvals: t("Approvals"),
  inboxEmpty: t("Nothing is waiting for you."),
  inboxFiltered: t("Nothing matching is waiting for you."),
  everyRoom: t("Every room"),
  everybody: t("Everybody"),
  danger: t("danger"),
  inboxCard: ({ tool, room }) => (room ? t("{tool}, in {room}", { tool, room }) : tool),
  onlyThere: ({ tool, room }) => t("May I run {tool}? This can only be answered in {room}.", { tool, room: room || t("the room where it was asked") }),
  inboxGone: t("That question no longer waits for you."),
  inboxClosed: {
    approved: ({ by }) => (by ? t("Approved by {by}", { by }) : t("Approved")),
    denied: ({ by }) => (by ? t("Denied by {by}", { by }) : t("Denied")),
    answered: ({ by }) => (by ? t("Answered by {by}", { by }) : t("Answered")),
    expired: () => t("Expired"),
    pending: () => t("You approved it. It waits for others."),
    void: () => t("No longer needed"),
  },
  because: (reason) => t("Reason: {reason}", { reason }),
  whatWasAsked: t("What was asked"),
  inboxChoose: ({ tool, room }) => (room ? t("Select {tool}, in {room}", { tool, room }) : t("Select {tool}", { tool })),
  inboxChosen: (number) => many("{number} selected", "{number} selected", number),
  inboxApproveAll: (number) => `Approve ${count(number)}`,
  inboxDenyAll: (number) => `Deny ${count(number)}`,
  inboxDone: {
    approve: (number) => many("Approved {number} call.", "Approved {number} calls.", number),
    deny: (number) => many("Denied {number} call.", "Denied {number} calls.", number),
  },
  pressAgainAll: (number) => many("One of these calls is dangerous. Press again to approve them all.", "{number} of these calls are dangerous. Press again to approve them all.", number),
  pressAgain: t("This call is dangerous. Press A again to approve it."),

  notify: {
    turnOn: t("Notify me on this device"),
    turnOff: t("Stop notifications on this device"),
    isOn: t("You're notified here of approvals and mentions while you aren't looking."),
    blocked: t("Notifications are blocked in this browser. Allow them in its settings for this site."),
    unable: t("This browser can't be notified here. It needs https; on an iPhone, add this page to the home screen first."),
    failed: t("The browser couldn't turn notifications on. Try again later."),
  },

  // the agent at work
  ran: t("Ran "),
  running: t("Running "),
  thinking: t("Thinking…"),
  writing: t("Writing…"),
  stop: t("Stop"),
  stopping: t("Stopping…"),
  couldNotStop: (why) => t("Couldn't stop it. {why}", { why }),
  // the same for screen readers, who are told once and in full
  spoken: { stopping: t("Stopping"), running: (tool) => t("Running {tool}", { tool }), writing: t("Writing an answer"), thinking: t("Thinking") },

  // what led to an answer
  work: (ran) => {
    const names = [...new Set(ran.map(({ tool }) => tool))];
    const tools = names.length > 4 ? t("{first} and {more} more", { first: names.slice(0, 4).join(", "), more: count(names.length - 4) }) : names.join(", ");
    const time = seconds(ran.reduce((sum, one) => sum + one.seconds, 0));
    return ran.length > names.length
      ? t("Ran {tools}, {calls} calls · {time}", { tools, calls: count(ran.length), time })
      : t("Ran {tools} · {time}", { tools, time });
  },
  thought: t("Thinking"),
  seconds: (number) => seconds(number),

  // files
  tooLarge: (mebibytes) => t("Too large: at most {mebibytes} MiB.", { mebibytes }),
  uploading: (name) => t("Uploading {name}", { name }),
  notUploaded: (name) => t("\"{name}\" wasn't uploaded. Try it again, or remove it, before you send.", { name }),
  remove: (name) => t("Remove {name}", { name }),
  moreFiles: (number) => t("This list stops at {number} files. There are more.", { number: count(number) }),
};
