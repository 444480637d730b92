// What a person may do with a message: copy it, quote it, keep a link to it; have the newest answered anew, or edit it.

import { afterPaint, copyText, h, icon, sleep } from "./dom.js";
import { words } from "./words.js";

const SHOWN = 1_600; // milliseconds that "Copied" stands

/** A row of small buttons. `quote(text)` is null where nobody may write; `retry` and `edit` tell what is offered for this one. */
export function toolsOf(entry, room, { quote, again, rewrite }, { retry, edit } = {}) {
  const text = entry.markdown ?? entry.text ?? "";
  const link = `${location.origin}${location.pathname}#${room}/${encodeURIComponent(entry.id)}`;
  const row = h("div", { class: "tools", role: "group", "aria-label": words.tools });
  afterPaint(() => row.append(...[
    text && copier("copy", words.copyMessage, text),
    text && quote && button("quote", words.quote, () => quote(quoted(text))),
    copier("link", words.copyLink, link),
    edit && button("edit", words.editMessage, () => rewrite(entry)),
    retry && edit && button("again", words.retryWhy, () => again(entry)),
  ].filter(Boolean))); // they show when somebody points at the message
  return row;
}

/** Each line marked as quoted, and an empty one beneath to write on. */
const quoted = (text) => `${text.trim().split("\n").map((line) => `> ${line}`.trimEnd()).join("\n")}\n\n`;

function button(name, label, onclick) {
  return h("button", { type: "button", class: "icon small", "aria-label": label, title: label, "data-testid": `message-${name}`, onclick }, icon(name));
}

function copier(name, label, text) {
  const made = button(name, label, async () => {
    const told = (await copyText(text)) ? words.copied : words.copyByHand;
    made.title = told;
    made.setAttribute("aria-label", told);
    made.replaceChildren(icon(told === words.copied ? "check" : "alert"));
    await sleep(SHOWN);
    made.title = label;
    made.setAttribute("aria-label", label);
    made.replaceChildren(icon(name));
  });
  return made;
}
