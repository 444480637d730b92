// The messages of a conversation, drawn so that what did not change stays untouched: a screen reader hears only what
// is new, a text selection survives, an open form keeps its words.

import { branched, offers } from "./branches.js";
import { byId, coded, copyText, dayOf, h, icon, part, showLocally, sleep, stopsWhereItScrolls, timeOf, until } from "./dom.js";
import { fileLinks } from "./files.js";
import { Ratings } from "./ratings.js";
import { toolsOf } from "./tools.js";
import { words } from "./words.js";
import { workOf } from "./work.js";

const ICONS = { yes: "check", no: "close", nobody: "hand", withdrawn: "close", undone: "undo" }; // how a question ended
const NEAR = 120; // pixels from the end within which the log follows what is new
const POINTED = 2_500; // milliseconds that a message is marked to which a link led
const BESIDE = 8; // pixels that stay free around a card in view
const EDGE = 800; // pixels from the first or the last drawn message within which more are drawn there

export class Log {
  #list = byId("log");
  #scroll = byId("scroll");
  #jump = byId("jump");
  #drawn = new Map(); // key -> { shape, element }
  #room = null;
  #me;
  #actions;
  #ratings;
  #unfolded = new Set(); // ids of replaced messages that somebody looks at
  #answers = new Map(); // entry id -> what became of an answer that came too late, for the card as it is drawn then
  #following = true; // whether the end was in view before the last change
  #toNewest = true; // whether the newest message is among those that are drawn

  /**
   * `actions`: decide(button, reason, values) -> Promise<{ notice, decided }>, form(button), retry(id), discard(id), edit(item),
   * quote(text), which is null where the person may not write; again(entry) says a message once more, rewrite(entry) opens it in the composer;
   * older(), newer() and newest() draw other messages than those that are drawn.
   */
  constructor(me, actions) {
    this.#me = me;
    this.#actions = actions;
    this.#ratings = new Ratings(me.may_write);
    this.#jump.addEventListener("click", () => this.#actions.newest());
    this.#scroll.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const resized = new ResizeObserver(() => this.#following && this.toEnd()); // a longer draft, a phone's keyboard
    resized.observe(this.#scroll);
    resized.observe(this.#list);
    this.#list.addEventListener("focusin", ({ target }) => target.matches(".card.open .card-actions :focus-visible") && this.#showQuestion(target));
  }

  /** Whoever comes to a card's buttons by keyboard sees what is asked, as far as both fit. */
  #showQuestion(button) {
    const view = this.#scroll.getBoundingClientRect();
    const hidden = view.top + BESIDE - button.closest(".card").getBoundingClientRect().top;
    const room = view.bottom - BESIDE - button.getBoundingClientRect().bottom;
    if (hidden > 0 && room > 0) this.#scroll.scrollTop -= Math.min(hidden, room);
  }

  enter(room) {
    this.#room = room;
    this.#drawn.clear();
    this.#answers.clear();
    this.#unfolded.clear();
    this.#list.replaceChildren();
    this.#scroll.scrollTop = 0;
    this.#jump.hidden = true;
    this.#ratings.enter(room);
  }

  /** What the person thought of the answers, once those are on screen. */
  rate() {
    this.#ratings.load();
  }

  #scrolled() {
    this.#following = this.atEnd;
    if (this.#following) this.#jump.hidden = true;
    if (this.#scroll.scrollTop < EDGE) this.#actions.older();
    else if (!this.#toNewest && this.#below < EDGE) this.#actions.newer();
  }

  get #below() {
    return this.#scroll.scrollHeight - this.#scroll.scrollTop - this.#scroll.clientHeight;
  }

  /** Whether the newest message is in view. */
  get atEnd() {
    return this.#toNewest && (this.#drawn.size === 0 || this.#below < NEAR); // the second has the page laid out
  }

  toEnd() {
    if (this.#drawn.size > 0) this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#following = true;
    this.#jump.hidden = true;
  }

  /** Do something that changes the height, and stay at the end if we were there. */
  following(change, { always = false } = {}) {
    const follow = always || this.atEnd;
    if (!follow) return this.keeping(change);
    change();
    this.toEnd();
    return follow;
  }

  /** Do something that adds or takes away messages, and keep in place what is read. */
  keeping(change) {
    const top = this.#scroll.getBoundingClientRect().top;
    const inView = ([key, { element }]) => key.startsWith("entry") && element.getBoundingClientRect().bottom > top;
    const read = [...this.#drawn].find(inView); // a day's rule stays first, whatever comes below it
    const before = read?.[1].element.getBoundingClientRect().top;
    change();
    const kept = read && this.#drawn.get(read[0]);
    if (kept) this.#scroll.scrollTop += kept.element.getBoundingClientRect().top - before;
    return false;
  }

  /** Draw `entries`, up to the newest or not, and under them `pending` messages. True when an entry is new. */
  draw(entries, pending, { toNewest = true } = {}) {
    this.#toNewest = toNewest;
    if (!toNewest) this.#jump.hidden = false;
    const wanted = [];
    const offered = toNewest ? offers(entries, this.#me) : {};
    let today = null;
    for (const { entry, said = "", fold } of branched(entries)) {
      const day = dayOf((entry ?? fold.entries[0]).at);
      if (day !== today) wanted.push([`day ${day}`, day, () => h("li", { class: "day" }, h("span", {}, day))]);
      today = day;
      if (fold) {
        wanted.push([`fold ${fold.id}`, fold.title + fold.entries.map((one) => `${one.id} ${one.version}`).join(), () => this.#fold(fold)]);
        continue;
      }
      const again = { said, edit: entry === offered.edit, retry: entry === offered.retry || (entry === offered.edit && Boolean(offered.retry)), of: offered.edit };
      const shape = `${entry.version} ${this.#answerTo(entry)} ${said} ${again.edit} ${again.retry}`;
      wanted.push([`entry ${entry.id}`, shape, () => this.#entry(entry, again)]);
    }
    for (const item of pending) {
      wanted.push([`sent ${item.id}`, item.state + item.error, () => this.#pending(item)]);
    }
    const fresh = wanted.some(([key]) => key.startsWith("entry") && !this.#drawn.has(key));
    this.#reconcile(wanted);
    return fresh;
  }

  /** Bring a message into view, and mark it for a moment. False where it isn't drawn. */
  point(id) {
    const found = this.#list.querySelector(`[data-entry="${CSS.escape(id)}"]`);
    if (!found) return false;
    for (let fold = found.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    this.#following = false;
    found.scrollIntoView({ block: "center" });
    found.classList.add("pointed");
    setTimeout(() => found.classList.remove("pointed"), POINTED);
    return true;
  }

  showJump() {
    this.#jump.hidden = this.atEnd;
  }

  #reconcile(wanted) {
    const before = this.#drawn;
    this.#drawn = new Map();
    let place = this.#list.firstChild;
    for (const [key, shape, make] of wanted) {
      const known = before.get(key);
      const element = known?.shape === shape ? known.element : make();
      if (known && known.element !== element) {
        if (place === known.element) place = element;
        const held = known.element.contains(document.activeElement);
        known.element.replaceWith(element);
        if (held) element.focus({ preventScroll: true }); // else whoever goes by keyboard would begin at the top again
      }
      if (element === place) place = place.nextSibling;
      else this.#list.insertBefore(element, place);
      this.#drawn.set(key, { shape, element });
      before.delete(key);
    }
    for (const { element } of before.values()) element.remove();
  }

  #entry(entry, again = {}) {
    if (entry.author === "summary") return fold(entry);
    if (entry.notice) return h("li", { class: "told", "data-testid": "notice", "data-entry": entry.id }, h("p", { class: "said" }, entry.text), timeOf(entry.at));
    if (entry.author === "person") return this.#person(entry, again);
    const card = entry.kind === "approval" || entry.buttons?.length > 0;
    return card ? this.#card(entry) : this.#agent(entry, again);
  }

  /** What was replaced, as it stood. */
  #fold({ id, title, entries }) {
    const look = ({ target }) => (target.open ? this.#unfolded.add(id) : this.#unfolded.delete(id));
    return h("li", { class: "fold", "data-testid": "branch" },
      h("details", { open: this.#unfolded.has(id), ontoggle: look },
        h("summary", {}, h("span", {}, title)),
        h("ol", { class: "fold-body branch" }, ...entries.map((entry) => this.#entry(entry)))));
  }

  #person(entry, again) {
    const mine = entry.name === this.#me.name;
    return h("li", { class: "message person", "data-testid": "message", "data-author": "person", "data-entry": entry.id },
      h("div", { class: "bubble" }, entry.text && h("p", { class: "said" }, entry.text), fileLinks(this.#room, entry.files)),
      reactions(entry),
      h("p", { class: "meta" }, mine ? h("span", { class: "visually-hidden" }, words.you) : `${entry.name} · `, timeOf(entry.at), h("span", { class: "sent", title: words.sent }, icon("check"), h("span", { class: "visually-hidden" }, words.sent)), again.said && h("span", { "data-testid": "said-again" }, words.saidAgain[again.said])),
      toolsOf(entry, this.#room, this.#actions, again));
  }

  #agent(entry, again) {
    const offered = [this.#ratings.of(entry), again.retry && retrier(again.of, this.#actions)].filter(Boolean);
    const tools = toolsOf(entry, this.#room, this.#actions);
    const failed = entry.failed && h("span", { class: "failure", "data-testid": "failure" }, icon("alert"), words.cameToNothing);
    return h("li", { class: failed ? "message agent failed" : "message agent", "data-testid": "message", "data-author": "agent", "data-entry": entry.id },
      h("p", { class: "meta" }, h("span", { class: "lamp", "aria-hidden": "true" }), h("strong", {}, "Signalbox"), timeOf(entry.at), failed, entry.rewritten && h("span", { "data-testid": "edited" }, words.edited), entry.schedule && h("span", { class: "of-schedule", "data-testid": "of-schedule" }, words.ofSchedule(entry.schedule))),
      workOf(entry, this.#room), prose(entry), fileLinks(this.#room, entry.files), reactions(entry), offered.length > 0 ? h("div", { class: "below" }, ...offered, tools) : tools);
  }

  #card(entry) {
    const open = entry.buttons?.some((button) => button.choice !== "undo") ?? false; // an undo is offered where all is decided
    const approves = entry.buttons?.some((button) => button.choice === "approve");
    const mark = open ? null : (entry.mark ?? null);
    const head = open ? (approves ? words.needsApproval : words.needsAnswer) : (entry.ended ?? (entry.elsewhere ? words.waitsElsewhere : ""));
    const decide = async (button, reason, values) => {
      const answer = await this.#actions.decide(button, reason, values);
      if (answer.decided || !answer.notice) this.#answers.delete(entry.id);
      else this.#answers.set(entry.id, answer.notice);
      return answer;
    };
    const actions = entry.buttons?.length > 0
      ? new Actions(entry, this.#me.may_write, { decide, form: this.#actions.form }).element
      : this.#answerTo(entry) && h("p", { class: "card-notice", role: "status" }, this.#answerTo(entry));
    return h("li", { class: open ? "message card open" : "message card", tabindex: "-1", "data-testid": "card", "data-state": open ? "open" : "closed", "data-mark": mark, "data-entry": entry.id },
      h("p", { class: "card-head" }, head && icon(open || entry.elsewhere ? "hand" : (ICONS[mark] ?? "check")), head && h("span", {}, head), timeOf(entry.at)),
      prose(entry), fileLinks(this.#room, entry.files), actions || null);
  }

  /** Why our own answer to a card that is settled by now did not count. */
  #answerTo(entry) {
    return entry.buttons?.length > 0 ? "" : (this.#answers.get(entry.id) ?? "");
  }

  #pending(item) {
    const status = { sending: words.sending, waiting: words.waiting, failed: words.failed }[item.state];
    const button = (label, action) => h("button", { type: "button", class: "link", onclick: action }, label);
    return h("li", { class: `message person pending ${item.state}`, "data-testid": "message", "data-author": "person", "data-state": item.state },
      h("div", { class: "bubble" }, item.text && h("p", { class: "said" }, item.text), fileLinks(this.#room, item.files)),
      h("p", { class: "meta" },
        h("span", { role: item.state === "failed" ? "alert" : null },
          item.state === "failed" ? icon("alert") : h("span", { class: "spinner", "aria-hidden": "true" }),
          status, ...(item.state !== "sending" && item.error ? coded(` ${item.error}`) : [])),
        item.state === "waiting" && button(words.tryNow, () => this.#actions.retry(item.id)),
        item.state === "failed" && button(words.tryAgain, () => this.#actions.retry(item.id)),
        item.state === "failed" && button(words.edit, () => this.#actions.edit(item)),
        item.state === "failed" && button(words.discard, () => this.#actions.discard(item.id))));
  }
}

function retrier(said, { again }) {
  return h("button", { type: "button", class: "ghost retry", title: words.retryWhy, "data-testid": "retry", onclick: () => again(said) }, icon("again"), words.retry);
}

/** Emoji that the agent put onto a message; null where there are none. */
function reactions({ reactions: marks = [] }) {
  if (marks.length === 0) return null;
  return h("p", { class: "reactions", "data-testid": "reactions" }, h("span", { class: "visually-hidden" }, words.reactedWith), ...marks.map((mark) => h("span", {}, mark)));
}

/** A thin rule where a summary speaks for what is above it, with its text folded behind. */
function fold({ id, summary }) {
  const told = words.summary({ ...summary, since: until(summary.since), until: until(summary.until), made_at: until(summary.made_at) });
  return h("li", { class: "fold", "data-testid": "summary", "data-entry": id },
    h("details", {},
      h("summary", {}, h("span", {}, told.title)),
      h("div", { class: "fold-body" }, h("p", { class: "fold-facts" }, told.facts), prose(summary))));
}

/** The buttons of a card, and the form behind one of them. */
export class Actions {
  #actions;
  #buttons;
  #notice = h("p", { class: "card-notice", role: "status" });
  #form = null; // { element, opener, button }

  /** `actions`: decide(button, reason, values) -> { notice, decided }, form(button) -> a form or { notice }. */
  constructor(entry, mayWrite, actions) {
    this.#actions = actions;
    const row = h("div", { class: "actions" });
    this.element = h("div", { class: "card-actions" }, row, this.#notice);
    const edits = entry.buttons.filter((button) => button.choice === "edit");
    for (const button of mayWrite ? entry.buttons : []) {
      if (edits.length > 1 && button === edits[0]) row.append(h("span", { class: "next-row" })); // those of each call stand together
      row.append(button.form
        ? this.#opener(button, button.label, button.choice)
        : h("button", { type: "button", class: `choice ${button.choice}`, "data-testid": button.choice, onclick: () => this.#press(button) }, button.label));
      if (button.choice === "deny") row.append(this.#opener(button, words.denyWithReason, "deny-reason"));
    }
    this.#buttons = () => this.element.querySelectorAll("button, textarea, input, select");
  }

  #opener(button, label, testId) {
    const opener = h("button", { type: "button", class: "choice quiet", "data-testid": testId, "aria-expanded": "false" }, label);
    opener.addEventListener("click", () => this.#toggleForm(button, opener));
    return opener;
  }

  async #toggleForm(button, opener) {
    const wasOpen = this.#form?.opener === opener;
    this.#closeForm();
    if (wasOpen) return;
    opener.disabled = true;
    const form = await this.#actions.form(button);
    opener.disabled = false;
    this.#notice.textContent = form.notice ?? "";
    if (form.fields) this.#openForm(form, button, opener);
  }

  #openForm(form, button, opener) {
    this.#closeForm();
    const name = `${form.choice}-${form.fields[0].name}`;
    const element = h("form", { class: "reason", "data-testid": `${form.choice}-form` },
      form.note ? h("p", { class: "note" }, form.note) : null,
      ...form.fields.map((field) => h("label", {}, h("span", {}, field.label), input(field, form.choice))),
      h("div", { class: "actions" },
        h("button", { type: "submit", class: `choice ${form.choice}`, "data-testid": `${name}-send` }, form.send),
        h("button", { type: "button", class: "choice quiet", onclick: () => this.#closeForm() }, words.cancel)));
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#press(button);
    });
    element.addEventListener("keydown", (event) => {
      const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.dataset.enter;
      if (sends) {
        event.preventDefault();
        element.requestSubmit();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        this.#closeForm();
      }
    });
    this.#form = { element, opener, button };
    opener.setAttribute("aria-expanded", "true");
    this.#notice.before(element);
    element.querySelector("[name]").focus();
    element.scrollIntoView({ block: "nearest" });
  }

  #closeForm() {
    if (!this.#form) return;
    const { element, opener } = this.#form;
    this.#form = null;
    element.remove();
    opener.setAttribute("aria-expanded", "false");
    opener.focus();
  }

  /** An answer takes the words along that stand in its form, whichever button sends it. */
  async #press(button) {
    const open = this.#form?.button.choice === button.choice ? this.#form.element : null;
    const { reason = "", ...values } = open ? Object.fromEntries(new FormData(open)) : {};
    const pressed = document.activeElement;
    const card = this.element.contains(pressed) && pressed.matches(":focus-visible") ? pressed.closest(".card") : null;
    card?.focus({ preventScroll: true }); // its button is about to go, and whoever goes by keyboard stays here
    for (const control of this.#buttons()) control.disabled = true;
    this.#notice.textContent = words.sendingAnswer;
    const { notice, decided } = await this.#actions.decide(button, reason, values);
    this.#notice.textContent = notice ?? (decided ? words.answerTaken : "");
    if (decided) return;
    for (const control of this.#buttons()) control.disabled = false;
    if (card && document.activeElement === card && pressed.isConnected) pressed.focus({ preventScroll: true });
  }
}

/** One input of a form. Enter sends a short one and a reason; in longer texts it begins a line. */
function input(field, choice) {
  const known = { name: field.name, required: !field.optional, "data-testid": `${choice}-${field.name}-text` };
  if (field.options.length > 0) {
    return h("select", known, ...field.options.map((option) => h("option", { value: option, selected: option === field.text }, option)));
  }
  const typed = { ...known, maxlength: String(field.most), placeholder: field.hint };
  const enter = !field.lines || field.name === "reason" ? "sends" : null;
  if (!field.lines) return h("input", { ...typed, type: "text", value: field.text, "data-enter": enter });
  const rows = Math.min(12, Math.max(2, field.text.split("\n").length));
  return h("textarea", { ...typed, rows: String(rows), spellcheck: field.name === "reason" ? null : "false", "data-enter": enter }, field.text);
}

/** The HTML that the server made from Markdown, once and escaped, with a copy button on each code block. */
export function prose(entry) {
  const box = h("div", { class: "prose" });
  if (entry.html === undefined) box.append(h("p", { class: "said" }, entry.text ?? ""));
  else box.innerHTML = entry.html;
  for (const time of box.querySelectorAll("time")) showLocally(time);
  for (const block of box.querySelectorAll("pre")) frameCode(block);
  for (const table of box.querySelectorAll("table")) {
    const frame = h("div", { class: "table", role: "group", "aria-label": words.table });
    table.replaceWith(frame);
    frame.append(table);
    stopsWhereItScrolls(frame);
  }
  return box;
}

function frameCode(block) {
  const button = h("button", { type: "button", class: "copy", "aria-label": words.copyCode }, words.copy);
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(block.textContent)) ? words.copied : words.copyByHand;
    await sleep(1_600);
    button.textContent = words.copy;
  });
  const frame = h("div", { class: block.dataset.info ? "code" : "code bare" }, h("div", { class: "code-head" }, h("span", {}, block.dataset.info ?? ""), button));
  block.replaceWith(frame);
  stopsWhereItScrolls(block);
  frame.append(block);
  if (block.dataset.info) part("code").then(({ colour }) => colour(block));
}
