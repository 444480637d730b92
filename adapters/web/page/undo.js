// A line over the page for what was just done, which can be taken back for a moment.

import { byId, h } from "./dom.js";
import { words } from "./words.js";

let shown = null; // { close }, of the one line that stands there

/**
 * Tell `sentence` for `wait` milliseconds, with a button that takes it back. The focus goes there: what had it is gone, and ten
 * seconds are few to find it by keyboard.
 */
export function offerUndo(sentence, wait, undo) {
  shown?.close();
  const close = () => {
    clearTimeout(timer);
    const had = element.contains(document.activeElement);
    element.remove();
    if (had) byId("composer-text").focus();
    shown = null;
  };
  const element = h("div", { class: "undo-line", role: "status", "data-testid": "undo-line" },
    h("span", {}, sentence),
    h("button", { type: "button", class: "link", "data-testid": "undo", onclick: () => (close(), undo()) }, words.undo));
  const timer = setTimeout(close, wait);
  shown = { close };
  document.body.append(element);
  element.querySelector("button").focus({ preventScroll: true });
}
