// A small menu at a button, and a question with one line to answer.

import { h } from "./dom.js";
import { words } from "./words.js";

const EDGE = 8; // pixels that stay free at the edges of the window

/** `items` are { label, act }, with `lang` where a label is in another language. It closes when something is chosen, by Escape, or when the focus leaves it. */
export function openMenu(opener, items) {
  const menu = h("div", { class: "menu", role: "menu", popover: "auto", "data-testid": "menu" },
    ...items.map(({ label, lang, act }) => h("button", { type: "button", role: "menuitem", lang, onclick: () => (menu.hidePopover(), act()) }, label)));
  menu.addEventListener("toggle", (event) => event.newState === "closed" && closed(menu, opener));
  menu.addEventListener("keydown", (event) => step(menu, event));
  document.body.append(menu);
  menu.showPopover();
  place(menu, opener.getBoundingClientRect());
  menu.firstChild.focus();
}

function place(menu, { right, bottom, top }) {
  const { width, height } = menu.getBoundingClientRect();
  const below = bottom + height + EDGE < innerHeight;
  menu.style.left = `${Math.max(EDGE, Math.min(right - width, innerWidth - width - EDGE))}px`;
  menu.style.top = `${below ? bottom : Math.max(EDGE, top - height)}px`;
}

function step(menu, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const items = [...menu.children];
  items[(items.indexOf(document.activeElement) + by + items.length) % items.length].focus();
}

function closed(menu, opener) {
  const had = menu.contains(document.activeElement) || document.activeElement === document.body;
  menu.remove();
  if (had && opener.isConnected) opener.focus();
}

/** The line that somebody gives; null where they leave it as it is. */
export function asked(question, text) {
  return new Promise((resolve) => {
    const field = h("input", { type: "text", name: "line", maxlength: "120", "aria-label": question, "data-testid": "asked" });
    field.value = text;
    const box = h("dialog", { class: "asked", "aria-label": question, onclose: () => (box.remove(), resolve(box.returnValue === "save" ? field.value.trim() : null)) },
      h("form", { method: "dialog" }, h("label", {}, h("span", {}, question), field),
        h("div", { class: "actions" },
          h("button", { class: "choice done", value: "save" }, words.save),
          h("button", { type: "button", class: "choice quiet", onclick: () => box.close() }, words.cancel))));
    document.body.append(box);
    box.showModal();
    field.select();
  });
}
