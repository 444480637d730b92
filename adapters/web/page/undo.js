// A line over the page for what was just done, which can be taken back for a while.

import { byId, h, icon } from "./dom.js";
import { words } from "./words.js";

const LONGEST = 2; // times its wait that a line stays at most while somebody is at it

let shown = null; // { close, undo }, of the one line that stands there

/**
 * Tell `sentence` for `wait` milliseconds, with a button that takes it back. The focus goes there: what had it is gone. Whoever
 * stays at it, by keyboard or by pointer, has twice the time.
 */
export function offerUndo(sentence, wait, undo) {
  shown?.close();
  const until = Date.now() + LONGEST * wait;
  const isAt = () => element.matches(":hover, :focus-within") && Date.now() < until;
  const close = () => {
    clearInterval(timer);
    const had = element.contains(document.activeElement);
    element.remove();
    if (had) byId("composer-text").focus();
    shown = null;
  };
  const taken = () => (close(), undo());
  const element = h("div", { class: "undo-line", role: "status", "data-testid": "undo-line", onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), close()) },
    h("span", {}, sentence),
    h("button", { type: "button", class: "link", title: "Z", "data-testid": "undo", onclick: taken }, words.undo),
    h("button", { type: "button", class: "icon small", "aria-label": words.close, onclick: close }, icon("close")));
  const due = Date.now() + wait;
  const timer = setInterval(() => Date.now() >= due && !isAt() && close(), 500);
  shown = { close, undo: taken };
  document.body.append(element);
  element.querySelector("button").focus({ preventScroll: true });
}

/** Take back what the line tells of, by a key; nothing where there is none. */
export const takeBack = () => shown?.undo();
