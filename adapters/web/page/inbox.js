// What waits for the person who looks, from every room: one list, oldest first, with its buttons and keys. What was
// decided meanwhile, here or elsewhere, stays in its place until it was looked at.

import { byId, h, icon, newId, shortTime, sleep, storage, timeOf } from "./dom.js";
import { Actions, prose } from "./log.js";
import { Failed, request } from "./net.js";
import { INBOX } from "./rooms.js";
import { words } from "./words.js";

const LOOK_EVERY = 60_000; // milliseconds; what changes is told by the page's stream
const LOOKS_APART = 500; // milliseconds between two looks that are told
const LOOK_HIDDEN_EVERY = 60_000; // the number in the tab's title is read there
const ARMED_FOR = 4_000; // milliseconds between the two presses of A for a dangerous call
const CLICK_TRIES = 4;
const TIME_LEFT = / \(in [^()]*\)/; // changes by itself, and is no reason to draw a card anew
const KEYS = { a: "approve", d: "deny" };
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const CLOSED_MOST = 50; // questions that are asked about at once, and decided ones that stay
const LOOKED_AFTER = 1_000; // milliseconds in view
const MARKS = { approved: "yes", denied: "no" };
const CARD = "[data-testid=inbox-card]";
const ITEM = "[data-testid=inbox-card], [data-testid=inbox-closed]";
const TYPED = "input:not([type=checkbox]), textarea, select, [contenteditable]";

/** The question that an address of the inbox names, or null. */
export function questionIn(hash) {
  try {
    return decodeURIComponent(hash.slice(INBOX.length + 1)) || null;
  } catch {
    return null; // a link that was cut within a letter
  }
}

export class Inbox {
  #section = byId("inbox");
  #list = byId("inbox-list");
  #filters = byId("inbox-filters");
  #status = byId("inbox-status");
  #bulk = byId("inbox-bulk");
  #questions = [];
  #closed = new Map(); // id -> what became of a question that waited
  #chosen = new Set(); // ids
  #key;
  #looking = null;
  #drawn = new Map(); // id -> { shape, element }
  #filter = { room: "", person: "" };
  #armed = null;
  #onCount;
  #titleOf;
  #looked = 0;
  #soon = null;
  #looks = 0;
  #drawnLook = 0;
  count = 0;

  /** `onCount()` when another number of questions waits; `titleOf(room)` of a conversation of the person's own. */
  constructor(person, { onCount, titleOf }) {
    this.#key = `signalbox.inbox.${person}`;
    this.#onCount = onCount;
    this.#titleOf = titleOf;
    this.#looking = new IntersectionObserver((seen) => this.#look(seen), { root: this.#section, threshold: 0.5 });
    addEventListener("keydown", (event) => this.#pressed(event));
    for (const choice of ["approve", "deny"]) byId(`inbox-bulk-${choice}`).addEventListener("click", () => this.#decideChosen(choice));
    byId("inbox-bulk-none").addEventListener("click", () => this.#choose([]));
    for (const name of ["room", "person"]) {
      byId(`inbox-${name}`).addEventListener("change", (event) => {
        this.#filter[name] = event.target.value;
        this.#draw();
      });
    }
  }

  get shown() {
    return !this.#section.hidden;
  }

  /** `question`: the card to which a link leads. */
  show(question = null) {
    this.#section.hidden = false;
    this.#draw();
    this.load().then(() => question && this.#point(question));
    this.#cards[0]?.focus({ preventScroll: true });
    if (!this.#cards.length) byId("inbox-title").focus();
  }

  hide() {
    this.#section.hidden = true;
    this.#status.textContent = "";
    this.#chosen.clear();
    for (const [id, one] of this.#closed) if (one.looked) this.#closed.delete(id);
  }

  /** Ids of the questions that the person was told of. */
  get told() {
    return this.#questions.map(({ id }) => id);
  }

  #point(question) {
    const item = [...this.#list.querySelectorAll(ITEM)].find((one) => one.dataset.approval === question);
    if (item) item.focus();
    else this.#status.textContent = words.inboxGone;
  }

  async run() {
    for (;;) {
      if (Date.now() - this.#looked >= (document.hidden ? LOOK_HIDDEN_EVERY : LOOK_EVERY)) await this.load();
      await sleep(1_000);
    }
  }

  /** Questions changed: look at once, and then once for all that is told meanwhile. */
  changed() {
    const since = Date.now() - this.#looked;
    this.#soon ??= setTimeout(() => {
      this.#soon = null;
      this.load();
    }, Math.max(0, LOOKS_APART - since));
  }

  async load() {
    this.#looked = Date.now();
    const look = ++this.#looks;
    try {
      const known = this.#known();
      const { questions, count, closed } = await request(`/api/inbox${known.length ? `?knows=${known}` : ""}`);
      if (look < this.#drawnLook) return; // a later look was answered sooner
      this.#drawnLook = look;
      this.#close(closed, questions);
      this.#questions = questions;
      storage.set(this.#key, questions.map(({ id }) => id).slice(0, CLOSED_MOST));
      this.#nameRooms();
      if (count !== this.count) this.#onCount((this.count = count));
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return; // the list as it was is better than none
    }
    if (this.shown) this.#draw();
  }

  /** Questions that waited when this person last looked, in this tab or another one, and of which no end is told yet. */
  #known() {
    const ids = new Set([...this.#questions.map(({ id }) => id), ...storage.get(this.#key, [])]);
    return [...ids].filter((id) => (this.#closed.get(id)?.state ?? "pending") === "pending").slice(0, CLOSED_MOST);
  }

  #close(closed, questions) {
    const before = new Map(this.#questions.map((one) => [one.id, one]));
    for (const one of closed) this.#closed.set(one.id, { ...before.get(one.id), ...one, room: before.get(one.id)?.room || one.room });
    for (const { id } of questions) this.#closed.delete(id); // asked again
    for (const id of [...this.#closed.keys()].slice(0, -CLOSED_MOST)) this.#closed.delete(id);
    for (const id of this.#chosen) if (!questions.some((one) => one.id === id)) this.#chosen.delete(id);
  }

  /** Decided cards that are in view while somebody looks were looked at: they go with the next leaving. */
  #look(seen) {
    for (const { target, isIntersecting } of seen) {
      clearTimeout(target.looking);
      const one = this.#closed.get(target.dataset.approval);
      if (isIntersecting && one) target.looking = setTimeout(() => (one.looked = !document.hidden && this.shown), LOOKED_AFTER);
    }
  }

  /** The list of conversations is known, which may come after the questions in them: it has their names. */
  titled() {
    if (this.#nameRooms() && this.shown) this.#draw();
  }

  /** True if a room has another name now. */
  #nameRooms() {
    const before = this.#questions;
    this.#questions = before.map((one) => ({ ...one, room: (one.place && this.#titleOf(one.place)) || one.room || "" }));
    return this.#questions.some((one, place) => one.room !== before[place].room);
  }

  get #cards() {
    return [...this.#list.querySelectorAll(CARD)];
  }

  // ---- drawing: what did not change stays as it is, with its focus and what is typed

  #draw() {
    this.#drawFilters();
    const { room, person } = this.#filter;
    const fits = (one) => (!room || one.room === room) && (!person || one.requester === person);
    const waiting = this.#questions.filter(fits);
    const closed = [...this.#closed.values()].filter(fits);
    const before = this.#drawn;
    const focused = this.#cards.findIndex((card) => card.contains(document.activeElement));
    this.#drawn = new Map();
    for (const one of [...waiting, ...closed].sort(byAge)) {
      const known = before.get(one.id);
      const shape = JSON.stringify([one.buttons, one.html?.replace(TIME_LEFT, ""), one.room, one.state]);
      const typing = !one.state && known?.element.querySelector(".reason"); // a form keeps its words
      this.#drawn.set(one.id, typing || known?.shape === shape ? known : { shape, element: one.state ? this.#ended(one) : this.#made(one) });
    }
    const elements = [...this.#drawn.values()].map(({ element }) => element);
    for (const item of [...this.#list.children]) if (!elements.includes(item)) item.remove();
    elements.forEach((element, place) => {
      if (this.#list.children[place] !== element) this.#list.insertBefore(element, this.#list.children[place] ?? null);
    });
    byId("inbox-empty").hidden = waiting.length > 0;
    byId("inbox-empty").textContent = this.#questions.length ? words.inboxFiltered : words.inboxEmpty;
    if (focused >= 0 && !this.#list.contains(document.activeElement)) this.#focusNear(focused);
    this.#drawBulk();
  }

  #focusNear(place) {
    const cards = this.#cards;
    (cards[Math.min(place, cards.length - 1)] ?? byId("inbox-title")).focus();
  }

  #made(one) {
    const answers = { decide: (button, reason, values) => this.#decide(button, reason, values), form };
    const actions = one.buttons.length ? new Actions(one, true, answers) : null;
    const head = one.buttons.some(({ choice }) => choice === "approve") ? words.needsApproval : words.needsAnswer;
    const element = h("li", { class: "card open", tabindex: "0", "data-testid": "inbox-card", "data-approval": one.id, "aria-label": words.inboxCard(one) },
      h("p", { class: "card-head" }, this.#chooser(one), icon("hand"), h("span", {}, head),
        one.room && h("span", { class: "inbox-room" }, one.room),
        one.effect === "danger" && h("span", { class: "danger" }, words.danger),
        h("time", { datetime: one.asked_at }, shortTime(one.asked_at))),
      one.html ? prose(one) : h("p", {}, words.onlyThere(one)),
      actions && actions.element);
    return element;
  }

  /** How it ended: what, by whom and when; what was asked is folded beneath. */
  #ended(one) {
    const told = words.inboxClosed[one.state] ?? words.inboxClosed.void;
    const element = h("li", { class: "card inbox-closed", tabindex: "0", "data-testid": "inbox-closed", "data-approval": one.id, "data-mark": MARKS[one.state], "aria-label": words.inboxCard(one) },
      h("p", { class: "card-head" }, icon(one.state === "denied" ? "close" : "check"), h("span", {}, told(one)),
        one.room && h("span", { class: "inbox-room" }, one.room), one.at && timeOf(one.at)),
      h("p", {}, h("code", {}, one.tool), one.reason && ` ${words.because(one.reason)}`),
      one.html && h("details", {}, h("summary", {}, words.whatWasAsked), prose(one)));
    this.#looking.observe(element);
    return element;
  }

  /** A box to choose several cards, which are then decided at once. */
  #chooser(one) {
    if (!both(one)) return null;
    const box = h("input", { type: "checkbox", "data-testid": "inbox-choose", "aria-label": words.inboxChoose(one) });
    box.checked = this.#chosen.has(one.id);
    box.addEventListener("change", () => this.#choose([...this.#chosen].filter((id) => id !== one.id).concat(box.checked ? [one.id] : [])));
    return box;
  }

  #choose(ids) {
    this.#chosen = new Set(ids);
    this.#armed = null;
    for (const card of this.#cards) {
      const box = card.querySelector("[data-testid=inbox-choose]");
      if (box) box.checked = this.#chosen.has(card.dataset.approval);
    }
    this.#drawBulk();
  }

  #drawBulk() {
    const { size } = this.#chosen;
    this.#section.classList.toggle("several", this.#questions.filter(both).length > 1);
    const leaves = this.#bulk.contains(document.activeElement) && size === 0;
    this.#bulk.hidden = size === 0;
    byId("inbox-bulk-said").textContent = words.inboxChosen(size);
    byId("inbox-bulk-approve").textContent = words.inboxApproveAll(size);
    byId("inbox-bulk-deny").textContent = words.inboxDenyAll(size);
    if (leaves) this.#focusNear(0);
  }

  #drawFilters() {
    const rooms = new Set(this.#questions.map((one) => one.room).filter(Boolean));
    const people = new Set(this.#questions.map((one) => one.requester).filter(Boolean));
    this.#filters.hidden = rooms.size < 2 && people.size < 2 && !this.#filter.room && !this.#filter.person;
    this.#options("room", rooms, words.everyRoom);
    this.#options("person", people, words.everybody);
  }

  #options(name, values, every) {
    const select = byId(`inbox-${name}`);
    const chosen = this.#filter[name];
    const wanted = [...new Set([...values, ...(chosen ? [chosen] : [])])].sort((a, b) => a.localeCompare(b));
    if (select.dataset.shape === JSON.stringify(wanted)) return;
    select.dataset.shape = JSON.stringify(wanted);
    select.replaceChildren(h("option", { value: "" }, every), ...wanted.map((value) => h("option", { value }, value)));
    select.value = chosen;
  }

  // ---- deciding

  async #decide(button, reason, values) {
    const answer = await decided(button, reason, values);
    if (answer.asked && answer.notice) this.#status.textContent = answer.notice;
    if (answer.asked) await this.load();
    return answer;
  }

  /** Each chosen question is decided for itself, in the order in which they were asked; dangerous ones by two presses. */
  async #decideChosen(choice) {
    const chosen = this.#questions.filter((one) => this.#chosen.has(one.id)).map((one) => [one, both(one)?.[choice]]).filter(([, button]) => button);
    const dangerous = chosen.filter(([one]) => one.effect === "danger").length;
    if (choice === "approve" && dangerous && !this.#sure(`all ${[...this.#chosen]}`, words.pressAgainAll(dangerous))) return;
    const controls = [...this.#bulk.querySelectorAll("button")];
    for (const control of controls) control.disabled = true;
    let taken = 0;
    let failed = "";
    for (const [, button] of chosen) {
      const answer = await decided(button, "", {});
      if (answer.decided) taken += 1;
      else failed ||= answer.notice ?? "";
    }
    for (const control of controls) control.disabled = false;
    await this.load();
    this.#choose([...this.#chosen].filter((id) => this.#questions.some((one) => one.id === id)));
    if (document.activeElement === document.body) this.#focusNear(0); // the button that had the focus is gone
    this.#status.textContent = words.inboxDone[choice](taken) + (failed && ` ${failed}`);
  }

  /** True if this is the second press of the same; the first one says so. */
  #sure(what, sentence) {
    if (this.#armed?.what === what && Date.now() - this.#armed.at < ARMED_FOR) {
      this.#armed = null;
      return true;
    }
    const armed = { what, at: Date.now() };
    this.#armed = armed;
    this.#status.textContent = sentence;
    setTimeout(() => {
      if (this.#armed !== armed) return;
      this.#armed = null; // a press from now on is a first one again, so the sentence is no longer true
      if (this.#status.textContent === sentence) this.#status.textContent = "";
    }, ARMED_FOR);
    return false;
  }

  // ---- keys: never what is typed, never held down

  #pressed(event) {
    const busy = event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]");
    if (!this.shown || busy || event.target.closest(TYPED)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (STEPS[key]) this.#step(event, STEPS[key]);
    else if (event.repeat) return;
    else if (key === "x") this.#toggle(event);
    else if (KEYS[key]) this.#answer(event, KEYS[key]);
  }

  /** To the next card or the one before; from elsewhere to the first. */
  #step(event, by) {
    const items = [...this.#list.querySelectorAll(ITEM)];
    if (!items.length) return;
    const here = items.findIndex((one) => one.contains(event.target));
    const first = Math.max(0, items.indexOf(this.#cards[0]));
    const next = items[here < 0 ? first : Math.min(items.length - 1, Math.max(0, here + by))];
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  #toggle(event) {
    const box = event.target.closest(CARD)?.querySelector("[data-testid=inbox-choose]");
    if (!box) return;
    event.preventDefault();
    box.click();
  }

  /** A and D answer the card that has the focus, a dangerous call by two presses. */
  #answer(event, choice) {
    const card = event.target.closest(CARD);
    const button = card?.querySelector(`[data-testid=${choice}]:not(:disabled)`);
    if (!button) return;
    event.preventDefault();
    const id = card.dataset.approval;
    const danger = this.#questions.find((one) => one.id === id)?.effect === "danger";
    if (choice === "approve" && danger && !this.#sure(id, words.pressAgain)) return;
    this.#armed = null;
    button.click();
  }
}

const byAge = (one, other) => ((one.asked_at ?? one.at) < (other.asked_at ?? other.at) ? -1 : 1);

/** Both buttons of a question that says yes and no without a form; null for another one. */
function both({ buttons = [] }) {
  const of = (choice) => buttons.find((button) => button.choice === choice && !button.form);
  return of("approve") && of("deny") ? { approve: of("approve"), deny: of("deny") } : null;
}

/** One answer, sent until it is known to have arrived: equal ids are the same answer. */
async function decided(button, reason, values) {
  const body = { id: newId(), inbox: true, choice: button.choice, reason, values };
  for (let tries = 1; ; tries += 1) {
    try {
      const path = `/api/approvals/${encodeURIComponent(button.approval_id)}`;
      const { outcome, notice } = await request(path, { method: "POST", body });
      return { asked: true, decided: outcome === "decided" || outcome === "duplicate", notice };
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (!error.retry || tries === CLICK_TRIES) return { asked: false, decided: false, notice: error.message };
      await sleep(500 * 2 ** tries);
    }
  }
}

/** The form behind a button, or why there is none. */
async function form(button) {
  try {
    return await request(`/api/approvals/${encodeURIComponent(button.approval_id)}/form?choice=${button.choice}`);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { notice: error.message };
  }
}
