// A picture as large as the window allows, over the page; Escape, or a click anywhere, closes it.

import { h, icon } from "./dom.js";
import { words } from "./words.js";

/** Open `link`, which shows a picture, here instead of in a tab of its own. */
export function enlarge(link) {
  const { alt } = link.querySelector("img");
  const box = h("dialog", { class: "lightbox", "aria-label": alt, "data-testid": "lightbox", onclick: () => box.close(), onclose: () => closed(box, link) },
    h("img", { src: link.href, alt }),
    h("p", {}, h("span", {}, link.title), h("a", { href: link.href, target: "_blank", rel: "noopener", onclick: (event) => event.stopPropagation() }, words.openInTab)),
    h("button", { type: "button", class: "icon", "aria-label": words.closePicture }, icon("close")));
  document.body.append(box);
  box.showModal();
}

function closed(box, link) {
  box.remove();
  link.focus();
}
