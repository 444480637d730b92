// The messages of a conversation, drawn so that what did not change stays untouched: a screen reader hears only what
// is new, a text selection survives, an open form keeps its words.

import { byId, copyText, dayOf, h, icon, showLocally, sleep, timeOf } from "./dom.js";
import { fileLinks } from "./files.js";
import { words } from "./words.js";

const ICONS = { yes: "check", no: "close", nobody: "hand", withdrawn: "close" }; // how a question ended
const NEAR = 120; // pixels from the end within which the log follows what is new

export class Log {
  #list = byId("log");
  #scroll = byId("scroll");
  #jump = byId("jump");
  #drawn = new Map(); // key -> { shape, element }
  #room = null;
  #me;
  #actions;
  #answers = new Map(); // entry id -> what became of an answer that came too late, for the card as it is drawn then
  #following = true; // whether the end was in view before the last change

  /** `actions`: decide(button, reason) -> Promise<notice or null>, retry(id), discard(id), edit(item). */
  constructor(me, actions) {
    this.#me = me;
    this.#actions = actions;
    this.#jump.addEventListener("click", () => this.toEnd());
    this.#scroll.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const resized = new ResizeObserver(() => this.#following && this.toEnd()); // a longer draft, a phone's keyboard
    resized.observe(this.#scroll);
    resized.observe(this.#list);
  }

  enter(room) {
    this.#room = room;
    this.#drawn.clear();
    this.#answers.clear();
    this.#list.replaceChildren();
    this.#jump.hidden = true;
  }

  #scrolled() {
    this.#following = this.#atEnd;
    if (this.#following) this.#jump.hidden = true;
  }

  get #atEnd() {
    return this.#scroll.scrollHeight - this.#scroll.scrollTop - this.#scroll.clientHeight < NEAR;
  }

  toEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#following = true;
    this.#jump.hidden = true;
  }

  /** Do something that changes the height, and stay at the end if we were there. */
  following(change, { always = false } = {}) {
    const follow = always || this.#atEnd;
    change();
    if (follow) this.toEnd();
    return follow;
  }

  /** Do something that adds messages above, and keep what is read in place. */
  keeping(change) {
    const below = this.#scroll.scrollHeight - this.#scroll.scrollTop;
    change();
    this.#scroll.scrollTop = this.#scroll.scrollHeight - below;
  }

  /** Draw `entries` and, under them, `pending` messages. True when an entry is new. */
  draw(entries, pending) {
    const wanted = [];
    let today = null;
    for (const entry of entries) {
      const day = dayOf(entry.at);
      if (day !== today) wanted.push([`day ${day}`, day, () => h("li", { class: "day" }, h("span", {}, day))]);
      today = day;
      wanted.push([`entry ${entry.id}`, `${entry.version} ${this.#answerTo(entry)}`, () => this.#entry(entry)]);
    }
    for (const item of pending) {
      wanted.push([`sent ${item.id}`, item.state + item.error, () => this.#pending(item)]);
    }
    const fresh = wanted.some(([key]) => key.startsWith("entry") && !this.#drawn.has(key));
    this.#reconcile(wanted);
    return fresh;
  }

  showJump() {
    this.#jump.hidden = this.#atEnd;
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
        known.element.replaceWith(element);
      }
      if (element === place) place = place.nextSibling;
      else this.#list.insertBefore(element, place);
      this.#drawn.set(key, { shape, element });
      before.delete(key);
    }
    for (const { element } of before.values()) element.remove();
  }

  #entry(entry) {
    if (entry.author === "person") return this.#person(entry);
    const card = entry.kind === "approval" || entry.buttons?.length > 0;
    return card ? this.#card(entry) : this.#agent(entry);
  }

  #person(entry) {
    const mine = entry.name === this.#me.name;
    return h("li", { class: "message person", "data-testid": "message", "data-author": "person" },
      h("div", { class: "bubble" }, entry.text && h("p", { class: "said" }, entry.text), fileLinks(this.#room, entry.files)),
      h("p", { class: "meta" }, mine ? h("span", { class: "visually-hidden" }, words.you) : `${entry.name} · `, timeOf(entry.at), h("span", { class: "sent", title: words.sent }, icon("check"), h("span", { class: "visually-hidden" }, words.sent))));
  }

  #agent(entry) {
    return h("li", { class: "message agent", "data-testid": "message", "data-author": "agent" },
      h("p", { class: "meta" }, h("span", { class: "lamp", "aria-hidden": "true" }), h("strong", {}, "Signalbox"), timeOf(entry.at)),
      prose(entry), fileLinks(this.#room, entry.files));
  }

  #card(entry) {
    const open = entry.buttons?.length > 0;
    const approves = entry.buttons?.some((button) => button.choice === "approve");
    const mark = open ? null : (entry.mark ?? null);
    const head = open ? (approves ? words.needsApproval : words.needsAnswer) : (entry.ended || words.closed);
    const decide = async (button, reason) => {
      const answer = await this.#actions.decide(button, reason);
      if (!answer.decided && answer.notice) this.#answers.set(entry.id, answer.notice);
      return answer;
    };
    const actions = open
      ? new Actions(entry, this.#me.may_write, decide).element
      : this.#answerTo(entry) && h("p", { class: "card-notice", role: "status" }, this.#answerTo(entry));
    return h("li", { class: open ? "message card open" : "message card", "data-testid": "card", "data-state": open ? "open" : "closed", "data-mark": mark, "data-entry": entry.id },
      h("p", { class: "card-head" }, icon(open ? "hand" : (ICONS[mark] ?? "check")), h("span", {}, head), timeOf(entry.at)),
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
          status, item.state !== "sending" && item.error ? ` ${item.error}` : ""),
        item.state === "waiting" && button(words.tryNow, () => this.#actions.retry(item.id)),
        item.state === "failed" && button(words.tryAgain, () => this.#actions.retry(item.id)),
        item.state === "failed" && button(words.edit, () => this.#actions.edit(item)),
        item.state === "failed" && button(words.discard, () => this.#actions.discard(item.id))));
  }
}

/** The buttons of a card, and the small form for a reason. */
export class Actions {
  #decide;
  #buttons;
  #notice = h("p", { class: "card-notice", role: "status" });
  #form = null;

  constructor(entry, mayWrite, decide) {
    this.#decide = decide;
    const row = h("div", { class: "actions" });
    this.element = h("div", { class: "card-actions" }, row, this.#notice);
    for (const button of mayWrite ? entry.buttons : []) {
      row.append(h("button", { type: "button", class: `choice ${button.choice}`, "data-testid": button.choice, onclick: () => this.#press(button) }, button.label));
    }
    const denial = mayWrite && entry.buttons.find((button) => button.choice === "deny");
    if (denial) {
      const opener = h("button", { type: "button", class: "choice quiet", "data-testid": "deny-reason", "aria-expanded": "false" }, words.denyWithReason);
      opener.addEventListener("click", () => this.#toggleForm(denial, opener));
      row.append(opener);
    }
    this.#buttons = () => this.element.querySelectorAll("button, textarea");
  }

  #toggleForm(denial, opener) {
    if (this.#form) return this.#closeForm(opener);
    const field = h("textarea", { rows: "2", maxlength: "1000", required: true, "data-testid": "deny-reason-text", placeholder: words.agentReads });
    this.#form = h("form", { class: "reason" },
      h("label", {}, h("span", {}, words.whyNot), field),
      h("div", { class: "actions" },
        h("button", { type: "submit", class: "choice deny", "data-testid": "deny-reason-send" }, words.sendDenial),
        h("button", { type: "button", class: "choice quiet", onclick: () => this.#closeForm(opener) }, words.cancel)));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#press(denial);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#form.requestSubmit();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        this.#closeForm(opener);
      }
    });
    opener.setAttribute("aria-expanded", "true");
    this.#notice.before(this.#form);
    field.focus();
    this.#form.scrollIntoView({ block: "nearest" });
  }

  #closeForm(opener) {
    this.#form.remove();
    this.#form = null;
    opener.setAttribute("aria-expanded", "false");
    opener.focus();
  }

  /** A denial takes the words along that stand in the form, whichever button sends it. */
  async #press(button) {
    const reason = button.choice === "deny" ? (this.#form?.querySelector("textarea").value ?? "") : "";
    for (const control of this.#buttons()) control.disabled = true;
    this.#notice.textContent = words.sendingAnswer;
    const { notice, decided } = await this.#decide(button, reason);
    this.#notice.textContent = notice ?? (decided ? words.answerTaken : "");
    if (!decided) for (const control of this.#buttons()) control.disabled = false;
  }
}

/** The HTML that the server made from Markdown, once and escaped, with a copy button on each code block. */
export function prose(entry) {
  const box = h("div", { class: "prose" });
  if (entry.html === undefined) box.append(h("p", { class: "said" }, entry.text ?? ""));
  else box.innerHTML = entry.html;
  for (const time of box.querySelectorAll("time")) showLocally(time);
  for (const block of box.querySelectorAll("pre")) frameCode(block);
  for (const table of box.querySelectorAll("table")) {
    const frame = h("div", { class: "table", tabindex: "0", role: "region", "aria-label": words.table });
    table.replaceWith(frame);
    frame.append(table);
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
  block.tabIndex = 0; // so that the keyboard can scroll it
  frame.append(block);
}
