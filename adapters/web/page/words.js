// All that the page's script says to people, in one place: to be read in one go, and translated one day. What stands
// there from the start is in index.html; what the server answers comes as it is.

const count = (number) => number.toLocaleString();
const seconds = (number) => `${number.toLocaleString(undefined, { maximumFractionDigits: number < 1 ? 2 : number < 60 ? 1 : 0 })} s`;

export const words = {
  // conversations
  newConversation: "New conversation",
  untitled: "Untitled",
  questions: (number) => (number === 1 ? "1 question for you" : `${count(number)} questions for you`),
  welcome: (name) => `What can I do for you, ${name}?`,
  pinned: "Pinned",
  earlierRooms: "Earlier",
  archived: "Archived",
  unread: "New messages",
  roomMenu: (title) => `More for "${title}"`,
  rename: "Rename",
  pin: "Pin",
  unpin: "Unpin",
  archive: "Archive",
  unarchive: "Take out of the archive",
  deleteRoom: "Delete",
  deleted: "Deleted.",
  undo: "Undo",
  nameOf: "Name of this conversation",
  save: "Save",
  setUpModel: "Set up a model",
  close: "Close",
  justNow: "just now",
  today: "Today",
  yesterday: "Yesterday",
  console: "Console",

  // the connection
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  notConnected: "Not connected",
  away: "Signalbox isn't answering right now.",
  answered: (status) => `Signalbox answered with error ${status}. Try again in a moment.`,
  uploadCut: "The upload was interrupted. Try again.",

  // messages
  you: "You, ",
  sent: "Sent",
  edited: "edited",
  saidAgain: { again: "asked again", edited: "edited" },
  retry: "Try again",
  retryWhy: "Answer this anew",
  editMessage: "Edit and send again",
  earlierAnswer: (number, all) => `Earlier answer (${number} of ${all})`,
  earlierMessage: (number, all) => `Before you edited it (${number} of ${all})`,
  reactedWith: "Marked with",
  rate: { up: "Good answer", down: "Bad answer" },
  rateWhy: "What was good or bad about it? (optional)",
  rateSend: "Send",
  rated: "Thanks for telling us.",
  sending: "Sending…",
  waiting: "Not sent yet, still trying.",
  failed: "Couldn't send this.",
  notTaken: "Signalbox didn't accept this message.",
  tooLong: (limit) => `This message is too long: at most ${count(limit)} characters. Attach the text as a file instead.`,
  tryNow: "Try now",
  tryAgain: "Try again",
  edit: "Edit",
  discard: "Discard",
  copy: "Copy",
  copyCode: "Copy this code",
  copied: "Copied",
  copyByHand: "Press Ctrl+C",
  table: "Table",
  tools: "With this message",
  copyMessage: "Copy this message",
  quote: "Quote this message",
  copyLink: "Copy a link to this message",
  gone: "That message can't be shown: it's gone.",
  openInTab: "Open in a tab",
  closePicture: "Close the picture",

  // going places
  foundIn: (who, title) => (who ? `${who}, in ${title}` : title),
  keys: {
    title: "Keys",
    close: "Close",
    rows: [
      [["Enter"], "Send"],
      [["Shift", "Enter"], "Begin a new line"],
      [["Ctrl", "K"], "Go to a conversation or page (⌘ K on a Mac)"],
      [["N"], "New conversation"],
      [["I"], "Approvals that wait for you"],
      [["A"], "Approve the card in focus, in Approvals"],
      [["D"], "Deny the card in focus, in Approvals"],
      [["J"], "Next card, in Approvals (or the arrow down)"],
      [["K"], "Previous card, in Approvals (or the arrow up)"],
      [["X"], "Select the card in focus, to decide several at once"],
      [["/"], "Write"],
      [["Esc"], "Close what is open"],
      [["?"], "This list"],
    ],
  },
  consolePages: [
    ["/console", "Console: overview"],
    ["/console/approvals", "Console: approvals"],
    ["/console/grants", "Console: grants"],
    ["/console/runs", "Console: runs"],
    ["/console/outbox", "Console: outbox"],
    ["/console/reports", "Console: reports"],
    ["/console/schedules", "Console: schedules"],
    ["/console/tasks", "Console: tasks"],
    ["/console/children", "Console: handed on"],
    ["/console/workflows", "Console: workflows"],
    ["/console/goals", "Console: goals"],
    ["/console/triggers", "Console: triggers"],
    ["/console/memory", "Console: memory"],
    ["/console/skills", "Console: skills"],
    ["/console/knowledge", "Console: knowledge"],
    ["/console/agents", "Console: agents"],
    ["/console/models", "Console: models"],
    ["/console/people", "Console: people"],
    ["/console/tokens", "Console: tokens"],
    ["/console/trace", "Console: trace"],
    ["/console/events", "Console: events"],
    ["/console/feedback", "Console: feedback"],
  ],

  // a summary
  summary: ({ turns, kind, model, before, after, since, until, made_at }) => ({
    title: `${kind === "handoff" ? "Restarted from a handoff: " : "Summary of "}${turns === 1 ? "1 turn" : `${count(turns)} turns`}`,
    facts: [
      `From ${since} to ${until}. `,
      kind === "extract" ? "An extract with a line for each turn, " : `Written by ${model || "the model"}, `,
      `made ${made_at}: about ${count(before)} tokens before, ${count(after)} after. `,
      "The model reads this instead of the messages above.",
    ].join(""),
  }),

  // cards
  needsApproval: "Needs approval",
  needsAnswer: "Needs an answer",
  denyWithReason: "Deny with a reason…",
  cancel: "Cancel",
  signOut: "Sign out",
  signOutUnsent: "Some messages aren't sent yet. If you sign out now, they're lost. Sign out?",
  sendingAnswer: "Sending your answer…",
  answerTaken: "Got your answer.",

  // the mode of a conversation
  modes: {
    "read-only": () => "Read-only: I can read here, but not change anything.",
    plan: () => "Plan: I ask once about everything I want to change, then start.",
    trusted: ({ trusted, until }) => `Trusted until ${until}: ${trusted}'s changes don't need approval, unless they're dangerous.`,
  },

  // the inbox
  approvals: "Approvals",
  inboxEmpty: "Nothing is waiting for you.",
  inboxFiltered: "Nothing matching is waiting for you.",
  everyRoom: "Every room",
  everybody: "Everybody",
  danger: "danger",
  inboxCard: ({ tool, room }) => (room ? `${tool}, in ${room}` : tool),
  onlyThere: ({ tool, room }) => `May I run ${tool}? This can only be answered in ${room || "the room where it was asked"}.`,
  inboxGone: "That question no longer waits for you.",
  inboxClosed: {
    approved: ({ by }) => (by ? `Approved by ${by}` : "Approved"),
    denied: ({ by }) => (by ? `Denied by ${by}` : "Denied"),
    answered: ({ by }) => (by ? `Answered by ${by}` : "Answered"),
    expired: () => "Expired",
    pending: () => "You approved it. It waits for others.",
    void: () => "No longer needed",
  },
  because: (reason) => `Reason: ${reason}`,
  whatWasAsked: "What was asked",
  inboxChoose: ({ tool, room }) => (room ? `Select ${tool}, in ${room}` : `Select ${tool}`),
  inboxChosen: (number) => (number === 1 ? "1 selected" : `${count(number)} selected`),
  inboxApproveAll: (number) => `Approve ${count(number)}`,
  inboxDenyAll: (number) => `Deny ${count(number)}`,
  inboxDone: {
    approve: (number) => (number === 1 ? "Approved 1 call." : `Approved ${count(number)} calls.`),
    deny: (number) => (number === 1 ? "Denied 1 call." : `Denied ${count(number)} calls.`),
  },
  pressAgainAll: (number) => (number === 1 ? "One of these calls is dangerous. Press again to approve them all." : `${count(number)} of these calls are dangerous. Press again to approve them all.`),
  pressAgain: "This call is dangerous. Press A again to approve it.",

  notify: {
    turnOn: "Notify me on this device",
    turnOff: "Stop notifications on this device",
    isOn: "You're notified here of approvals and mentions while you aren't looking.",
    blocked: "Notifications are blocked in this browser. Allow them in its settings for this site.",
    unable: "This browser can't be notified here. It needs https; on an iPhone, add this page to the home screen first.",
    failed: "The browser couldn't turn notifications on. Try again later.",
  },

  // the agent at work
  ran: "Ran ",
  running: "Running ",
  thinking: "Thinking…",
  writing: "Writing…",
  stop: "Stop",
  stopping: "Stopping…",
  couldNotStop: (why) => `Couldn't stop it. ${why}`,
  // the same for screen readers, who are told once and in full
  spoken: { stopping: "Stopping", running: (tool) => `Running ${tool}`, writing: "Writing an answer", thinking: "Thinking" },

  // what led to an answer
  work: (ran) => {
    const names = [...new Set(ran.map(({ tool }) => tool))];
    const most = names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${count(names.length - 4)} more` : names.join(", ");
    const calls = ran.length > names.length ? `, ${count(ran.length)} calls` : "";
    return `Ran ${most}${calls} · ${seconds(ran.reduce((sum, one) => sum + one.seconds, 0))}`;
  },
  thought: "Thinking",
  seconds: (number) => seconds(number),

  // files
  tooLarge: (mebibytes) => `Too large: at most ${mebibytes} MiB.`,
  uploading: (name) => `Uploading ${name}`,
  notUploaded: (name) => `"${name}" wasn't uploaded. Try it again, or remove it, before you send.`,
  remove: (name) => `Remove ${name}`,
  moreFiles: (number) => `This list stops at ${count(number)} files. There are more.`,
};
