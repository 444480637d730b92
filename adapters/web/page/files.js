// Files: what is attached to the message being written, and the panel with all files of the conversation.

import { byId, h, icon, newId, part, shortTime, sizeOf } from "./dom.js";
import { Failed, fileLink, request, upload } from "./net.js";
import { isFresh } from "./rooms.js";
import { words } from "./words.js";

/** Files attached to the message being written. Each is uploaded at once; the message then names them. */
export class Attachments {
  #list = byId("chips");
  #items = [];
  #limit;
  #changed;
  #choose;

  /** `limit` is in bytes a file; `choose` has the person choose files. */
  constructor({ limit, onChange, choose }) {
    this.#limit = limit;
    this.#changed = onChange;
    this.#choose = choose;
  }

  get uploading() {
    return this.#items.some((item) => item.state === "uploading");
  }

  /** One that didn't get there; undefined where all did. */
  get failed() {
    return this.#items.find((item) => item.state === "failed");
  }

  get ready() {
    return this.#items.filter((item) => item.state === "ready").map((item) => item.file);
  }

  /** Those that aren't there, and why: a draft keeps their names, since the browser keeps no files. */
  get missing() {
    return this.#items.filter((item) => item.state !== "ready").map(({ name, size, error }) => ({ name, size, error: error || words.uploadCut }));
  }

  restore(files, missing = []) {
    const ready = files.map((file) => ({ key: newId(), name: file.name, size: file.size, state: "ready", file }));
    this.#items = [...ready, ...missing.map((one) => this.#gone(one))];
    this.#draw();
  }

  /** One that didn't get there before the page was opened anew: to try again, the person chooses it once more. */
  #gone(one) {
    const item = { ...one, key: newId(), state: "failed" };
    item.again = () => {
      this.#remove(item);
      this.#choose();
    };
    return item;
  }

  clear() {
    this.restore([]);
  }

  add(room, files) {
    for (const file of files) this.#start(room, file);
  }

  async #start(room, source) {
    const name = source.name || "pasted.png";
    const item = { key: newId(), name, size: source.size, state: "uploading", share: 0, error: "" };
    this.#items.push(item);
    this.#draw();
    try {
      // the server says the same, but only after the file was on its way for a while
      if (source.size > this.#limit) throw new Failed(words.tooLarge(Math.round(this.#limit / 1024 / 1024)), { status: 413 });
      const file = await upload(room, new File([source], name, { type: source.type }), (share) => {
        item.share = share;
        if (item.bar) item.bar.value = share;
      });
      Object.assign(item, { state: "ready", file, name: file.name });
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      Object.assign(item, { state: "failed", error: error.message, again: () => this.#again(room, item, source) });
    }
    this.#draw();
  }

  #again(room, item, source) {
    this.#remove(item);
    this.#start(room, source);
  }

  #remove(item) {
    this.#items = this.#items.filter((one) => one !== item);
    this.#draw();
  }

  #draw() {
    this.#list.replaceChildren(...this.#items.map((item) => this.#chip(item)));
    this.#changed();
  }

  #chip(item) {
    item.bar = item.state === "uploading" ? h("progress", { max: "1", "aria-label": words.uploading(item.name) }) : null;
    if (item.bar) item.bar.value = item.share;
    return h("li", { class: `chip ${item.state}` },
      icon(item.state === "failed" ? "alert" : "file"),
      h("span", { class: "chip-name" }, item.name),
      item.state === "failed" ? h("span", { class: "chip-error", role: "alert" }, item.error) : h("span", { class: "chip-size" }, sizeOf(item.size)),
      item.bar,
      item.state === "failed" && h("button", { type: "button", class: "link", onclick: item.again }, words.tryAgain),
      item.state !== "uploading" && h("button", { type: "button", class: "icon small", "aria-label": words.remove(item.name), onclick: () => this.#remove(item) }, icon("close")));
  }
}

/** The panel at the side. */
export class FilesPanel {
  #panel = byId("files-panel");
  #list = byId("files");
  #empty = byId("files-empty");
  #toggle = byId("toggle-files");
  #room = null;

  constructor() {
    this.#toggle.addEventListener("click", () => (this.shown ? this.hide() : this.show()));
    byId("close-files").addEventListener("click", () => this.hide());
  }

  get shown() {
    return !this.#panel.hidden;
  }

  show() {
    this.#panel.hidden = false;
    this.#toggle.setAttribute("aria-expanded", "true");
    byId("files-title").focus();
    this.load();
  }

  hide() {
    this.#panel.hidden = true;
    this.#toggle.setAttribute("aria-expanded", "false");
    this.#toggle.focus();
  }

  enter(room) {
    this.#room = room;
    this.#list.replaceChildren();
    this.#empty.hidden = true;
    this.load();
  }

  async load() {
    if (!this.shown || !this.#room) return; // the person was quicker than the page
    const room = this.#room;
    if (isFresh(room)) return void (this.#empty.hidden = false);
    let answer;
    try {
      answer = await request(`/api/rooms/${room}/files`);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#list.replaceChildren(h("li", { class: "files-error" }, error.message));
      return;
    }
    if (room !== this.#room) return;
    const rows = answer.files.map((file) => fileRow(room, file));
    if (answer.more) rows.push(h("li", { class: "files-error" }, words.moreFiles(answer.files.length)));
    this.#list.replaceChildren(...rows);
    this.#empty.hidden = answer.files.length > 0;
  }
}

function fileRow(room, file) {
  const cut = file.path.lastIndexOf("/") + 1;
  return h("li", {},
    h("a", { class: "file", href: fileLink(room, file.path), download: file.path.slice(cut), "data-testid": "file" },
      icon("file"),
      h("span", { class: "file-path" }, cut > 0 && h("span", { class: "file-folder" }, file.path.slice(0, cut)), file.path.slice(cut)),
      h("span", { class: "file-size" }, `${sizeOf(file.size)} · ${shortTime(file.changed_at)}`),
      icon("download")));
}

const PICTURE = /\.(png|jpe?g|gif|webp)$/i;

/** The files of a message: pictures as such, which open whole, and everything else as a chip to be downloaded. */
export function fileLinks(room, files) {
  if (!files?.length) return null;
  return h("ul", { class: "attached" }, ...files.map((file) => h("li", {}, PICTURE.test(file.path) ? picture(room, file) : chip(room, file))));
}

function chip(room, file) {
  return h("a", { class: "chip", href: fileLink(room, file.path), download: file.name }, icon("file"),
    h("span", { class: "chip-name" }, file.name), h("span", { class: "chip-size" }, sizeOf(file.size)));
}

/** What is no picture after all, or gone, becomes a chip. */
function picture(room, file) {
  const shown = `${fileLink(room, file.path)}?view`;
  const link = h("a", { class: "picture", href: shown, target: "_blank", rel: "noopener", title: file.name, "data-testid": "picture" });
  const name = file.name.replace(PICTURE, "").replaceAll("-", " ");
  link.append(h("img", { src: shown, alt: name, loading: "lazy", onerror: () => link.replaceWith(chip(room, file)) }));
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return; // a tab of its own
    event.preventDefault();
    part("lightbox").then(({ enlarge }) => enlarge(link));
  });
  return link;
}
