// What waits for the person who looks, from every room: one list, oldest first, with its buttons and two keys.

import { byId, h, icon, newId, shortTime, sleep } from "./dom.js";
import { Actions, prose } from "./log.js";
import { Failed, request } from "./net.js";
import { words } from "./words.js";

export const ADDRESS = "#/approvals";

const LOOK_EVERY = 60_000; // milliseconds; what changes is told by the page's stream
const LOOKS_APART = 500; // milliseconds between two looks that are told
const LOOK_HIDDEN_EVERY = 60_000; // the number in the tab's title is read there
const ARMED_FOR = 4_000; // milliseconds between the two presses of A for a dangerous call
const CLICK_TRIES = 4;
const TIME_LEFT = / \(in [^()]*\)/; // changes by itself, and is no reason to draw a card anew
const KEYS = { a: "approve", d: "deny" };

export class Inbox {
  #section = byId("inbox");
  #list = byId("inbox-list");
  #filters = byId("inbox-filters");
  #status = byId("inbox-status");
  #questions = [];
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
  constructor({ onCount, titleOf }) {
    this.#onCount = onCount;
    this.#titleOf = titleOf;
    addEventListener("keydown", (event) => this.#key(event));
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

  show() {
    this.#section.hidden = false;
    this.#draw();
    this.load();
    this.#cards[0]?.focus({ preventScroll: true });
    if (!this.#cards.length) byId("inbox-title").focus();
  }

  hide() {
    this.#section.hidden = true;
    this.#status.textContent = "";
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
      const { questions, count } = await request("/api/inbox");
      if (look < this.#drawnLook) return; // a later look was answered sooner
      this.#drawnLook = look;
      this.#questions = questions.map((one) => ({ ...one, room: one.room || (one.place && this.#titleOf(one.place)) || "" }));
      if (count !== this.count) this.#onCount((this.count = count));
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return; // the list as it was is better than none
    }
    if (this.shown) this.#draw();
  }

  get #cards() {
    return [...this.#list.querySelectorAll("[data-testid=inbox-card]")];
  }

  // ---- drawing: what did not change stays as it is, with its focus and what is typed

  #draw() {
    this.#drawFilters();
    const { room, person } = this.#filter;
    const wanted = this.#questions.filter((one) => (!room || one.room === room) && (!person || one.requester === person));
    const before = this.#drawn;
    const focused = this.#cards.findIndex((card) => card.contains(document.activeElement));
    this.#drawn = new Map();
    for (const one of wanted) {
      const known = before.get(one.id);
      const shape = JSON.stringify([one.buttons, one.html.replace(TIME_LEFT, ""), one.room]);
      const typing = known?.element.querySelector(".reason"); // a form keeps its words
      this.#drawn.set(one.id, typing || known?.shape === shape ? known : { shape, element: this.#made(one) });
    }
    const elements = [...this.#drawn.values()].map(({ element }) => element);
    for (const card of this.#cards) if (!elements.includes(card)) card.remove();
    elements.forEach((element, place) => {
      if (this.#list.children[place] !== element) this.#list.insertBefore(element, this.#list.children[place] ?? null);
    });
    byId("inbox-empty").hidden = elements.length > 0;
    byId("inbox-empty").textContent = this.#questions.length ? words.inboxFiltered : words.inboxEmpty;
    if (focused >= 0 && !this.#list.contains(document.activeElement)) this.#focusNear(focused);
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
      h("p", { class: "card-head" }, icon("hand"), h("span", {}, head),
        one.room && h("span", { class: "inbox-room" }, `· ${one.room}`),
        one.effect === "danger" && h("span", { class: "danger" }, words.danger),
        h("time", { datetime: one.asked_at }, shortTime(one.asked_at))),
      one.html ? prose(one) : h("p", {}, words.onlyThere(one)),
      actions && actions.element);
    return element;
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
    const body = { id: newId(), inbox: true, choice: button.choice, reason, values };
    for (let tries = 1; ; tries += 1) {
      try {
        const path = `/api/approvals/${encodeURIComponent(button.approval_id)}`;
        const { outcome, notice } = await request(path, { method: "POST", body });
        const decided = outcome === "decided" || outcome === "duplicate";
        if (notice) this.#status.textContent = notice;
        await this.load();
        return { decided, notice };
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        if (!error.retry || tries === CLICK_TRIES) return { decided: false, notice: error.message };
        await sleep(500 * 2 ** tries);
      }
    }
  }

  /** A and D answer the card that has the focus: never what is typed, never held down, a dangerous call by two presses. */
  #key(event) {
    const choice = KEYS[event.key.toLowerCase()];
    const target = event.target;
    const busy = event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing;
    if (!this.shown || !choice || busy || target.matches("input, textarea, select")) return;
    const card = target.closest("[data-testid=inbox-card]");
    const button = card?.querySelector(`[data-testid=${choice}]:not(:disabled)`);
    if (!button) return;
    event.preventDefault();
    const id = card.dataset.approval;
    const danger = this.#questions.find((one) => one.id === id)?.effect === "danger";
    if (choice === "approve" && danger && !(this.#armed?.id === id && Date.now() - this.#armed.at < ARMED_FOR)) {
      this.#armed = { id, at: Date.now() };
      this.#status.textContent = words.pressAgain;
      return;
    }
    this.#armed = null;
    button.click();
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
