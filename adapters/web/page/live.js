// What the agent is doing right now. Nothing here lasts: the timeline has what does.

import { byId, h, icon, part } from "./dom.js";
import { prose } from "./log.js";
import { words } from "./words.js";

let preview = null; // how a text is formatted while it is written, with the first one

export class Live {
  #element = byId("live");
  #status = byId("live-status");
  #thinking = false;
  #resting = false;
  #stopping = false;
  #text = "";
  #tools = [];
  #said = "";

  get active() {
    return this.#thinking || this.#stopping || this.#text !== "" || this.#tools.length > 0;
  }

  get stopping() {
    return this.#stopping;
  }

  /** A person ends what is at work; what cannot be cut short ends first. */
  set stopping(now) {
    this.#stopping = now;
    this.#draw();
  }

  clear() {
    this.#thinking = this.#resting = this.#stopping = false;
    this.#text = "";
    this.#tools = [];
    this.#draw();
  }

  /** Take a progress event of the server. */
  hear(event) {
    this.#resting = false;
    if (event.kind === "stopping") {
      this.#stopping = true;
    } else if (event.kind === "thinking") {
      this.#stopping = false; // a run that ends does not begin to think: this is the next one
      this.#thinking = true;
      this.#text = "";
    } else if (event.kind === "speaking") {
      this.#thinking = false;
      this.#text = event.text;
    } else if (event.kind === "working") {
      this.#thinking = false;
      this.#work(event);
    } else if (event.kind === "advancing") {
      const open = this.#open(event);
      if (open) open.told = event.words; // words from outside: shown as what the tool says, never as markup
    } else {
      this.#stopping = false;
      this.#resting = true; // what it says stays until the timeline shows the lasting message in its place
    }
    this.#draw();
  }

  /** The timeline was read: `busy` says whether a run goes on, `news` whether the agent said something new. */
  settle({ busy, news }) {
    if (news) {
      this.#text = "";
      this.#tools = this.#tools.filter((tool) => !tool.ended);
    }
    if (!busy || this.#resting) return this.clear();
    if (!this.active) this.#thinking = true;
    this.#draw();
  }

  #work({ tool, arguments: given, ended }) {
    if (!ended) {
      this.#tools.push({ tool, given, ended: false });
      return;
    }
    const open = this.#open({ tool, arguments: given });
    if (open) open.ended = true;
    this.#thinking = this.#tools.every((one) => one.ended);
  }

  #open({ tool, arguments: given }) {
    return this.#tools.find((one) => !one.ended && one.tool === tool && one.given === given);
  }

  #draw() {
    this.#element.hidden = !this.active;
    this.#element.replaceChildren(...(this.active ? this.#children() : []));
    this.#say();
  }

  #children() {
    const tools = this.#tools.slice(-6).map((one) =>
      h("div", { class: one.ended ? "tool ended" : "tool" },
        one.ended ? icon("check") : h("span", { class: "spinner", "aria-hidden": "true" }),
        h("span", {}, one.ended ? words.ran : words.running, h("strong", {}, one.tool), one.ended ? "" : "…"),
        h("code", {}, one.given),
        !one.ended && one.told ? h("q", {}, one.told) : ""),
    );
    const text = this.#text && h("div", { class: "preliminary" },
      h("span", { class: "label" }, words.writing), this.#preview());
    const stopping = this.#stopping && h("div", { class: "thinking" },
      h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, words.stopping));
    const dots = this.#thinking && !this.#stopping && h("div", { class: "thinking" },
      h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("span", {}, words.thinking));
    return [...tools, text, dots, stopping].filter(Boolean);
  }

  #preview() {
    if (!preview) part("preview").then((read) => (preview = read, this.#draw()));
    const html = preview?.formatted(this.#text) ?? null;
    return html === null ? h("p", {}, this.#text) : prose({ html });
  }

  /** For screen readers: the kind of work, once each time it changes, not every word of it. */
  #say() {
    const running = this.#tools.find((one) => !one.ended);
    const { spoken } = words;
    const now = this.#stopping ? spoken.stopping : running ? spoken.running(running.tool) : this.#text ? spoken.writing : this.#thinking ? spoken.thinking : "";
    if (now !== this.#said) this.#status.textContent = this.#said = now;
  }
}
