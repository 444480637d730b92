// The page: one conversation at a time, with what is lasting from the timeline and what is passing from the events.

import { byId, h, icon, newId, sleep, storage, until } from "./dom.js";
import { Attachments, FilesPanel } from "./files.js";
import { ADDRESS as INBOX, Inbox } from "./inbox.js";
import { choose } from "./language.js";
import { Live } from "./live.js";
import { Log } from "./log.js";
import { openMenu } from "./menu.js";
import { Failed, request } from "./net.js";
import { Outbox } from "./outbox.js";
import { Palette, showKeys } from "./palette.js";
import { Rewriting } from "./rewriting.js";
import { entryInAddress, hasBegun, isFresh, newRoom, roomInAddress, Rooms } from "./rooms.js";
import { words } from "./words.js";

const SOON = 300; // milliseconds
const PAGE = 200; // entries the timeline gives at once
const DRAWN = 300; // messages in the document at once, however long a conversation is
const POINT_PAGES = 25; // pages that are read at most to find the message that a link points to
const STEP = 100; // messages by which those that are drawn move up or down
const ROOMS_EVERY = 20_000; // milliseconds between looks at the other rooms
const QUIET_AFTER = 60_000; // a hidden tab lets go of its connection: browsers allow six to one server
const CLICK_TRIES = 4;

const text = byId("composer-text");
const wide = matchMedia("(min-width: 900px)");

class Page {
  #me;
  #room = null;
  #entries = [];
  #busy = false;
  #more = false; // there are older ones than we have
  #last = null; // the id of the last message that is drawn; null for the newest
  #moving = false;
  #loaded = false;
  #events = null;
  #reading = null; // the refresh under way
  #again = false; // something changed while it was
  #around = null; // the timer of a look at what else changed
  #reconnect = 0;
  #trust = 0; // the timer of a mode that ends

  constructor(me) {
    this.#me = me;
    this.live = new Live();
    this.files = new FilesPanel();
    this.inbox = new Inbox({ onCount: () => this.#counted(), titleOf: (room) => this.rooms.titleOf(room) });
    this.rooms = new Rooms({ mayWrite: me.may_write, onOpen: (room) => this.#go(room), onFailed: (why) => this.#notify(why) });
    this.attachments = new Attachments({ limit: me.upload_limit, onChange: () => this.#composerChanged() });
    this.outbox = new Outbox(me.identity, {
      onChange: () => this.#draw(),
      onAccepted: (item, verdict) => this.#accepted(item, verdict),
    });
    this.palette = new Palette(() => this.#places(), (found) => this.#toEntry(found));
    this.rewriting = new Rewriting((draft) => this.#write(draft));
    this.log = new Log(me, {
      decide: (button, reason, values) => this.#decide(button, reason, values),
      form: (button) => this.#form(button),
      retry: (id) => this.outbox.retry(id),
      discard: (id) => this.outbox.remove(id),
      edit: (item) => this.#editAgain(item),
      quote: me.may_write ? (quoted) => this.#quote(quoted) : null,
      again: (entry) => this.#say(entry.text, entry.files, entry.id),
      rewrite: (entry) => this.#rewrite(entry),
      older: () => this.#older(),
      newer: () => this.#move(this.#span().start + STEP),
      newest: () => this.#toNewest(),
    });
  }

  async start() {
    this.#introduce();
    this.#listenToPerson();
    await this.rooms.load(null);
    const wanted = location.hash;
    if (this.#room) this.rooms.draw(this.#room); // the person was quicker
    else this.open(roomInAddress() ?? this.outbox.room ?? this.rooms.newest ?? newRoom(), { focus: wide.matches });
    if (wanted === INBOX) this.#toInbox();
    this.outbox.run();
    this.inbox.run();
    setInterval(() => document.hidden || this.#loadRooms(), ROOMS_EVERY);
  }

  // ---- conversations

  /** To where the person wants to be. */
  #go(room) {
    this.#closeDrawer();
    this.open(room);
  }

  /** To what waits for the person, in place of the conversation. */
  #toInbox() {
    this.#closeDrawer();
    if (location.hash !== INBOX) history.pushState(null, "", INBOX);
    byId("stage").hidden = true;
    byId("toggle-files").hidden = true;
    if (this.files.shown) this.files.hide();
    byId("to-inbox").setAttribute("aria-current", "page");
    this.inbox.show();
    this.rooms.draw(null);
    this.#loadRooms(); // a conversation that was begun just now is not in the list yet
    this.#title();
  }

  #leaveInbox() {
    if (!this.inbox.shown) return;
    this.inbox.hide();
    byId("stage").hidden = false;
    byId("toggle-files").hidden = false;
    byId("to-inbox").removeAttribute("aria-current");
    this.rooms.draw(this.#room);
    this.#draw();
  }

  /** How many questions wait: in the list, in the tab's title and on its icon. */
  #counted() {
    const { count } = this.inbox;
    const badge = byId("inbox-count");
    badge.hidden = count === 0;
    badge.replaceChildren(String(count), h("span", { class: "visually-hidden" }, ` ${words.questions(count)}`));
    byId("icon").href = count ? `/static/icon-${encodeURIComponent(count > 9 ? "9+" : count)}.svg` : "/static/icon.svg";
    byId("drawer-dot").hidden = count === 0 && this.rooms.waitingBeside(this.#room) === 0;
    this.#title();
  }

  open(room, { focus = true } = {}) {
    this.#leaveInbox();
    if (room === this.#room) {
      if (roomInAddress() !== room) history.pushState(null, "", `#${room}`);
      if (entryInAddress()) return this.#point(entryInAddress());
      return focus && text.focus();
    }
    this.#seen();
    this.#saveDraft();
    const early = this.#room ? "" : text.value; // typed, or put back by the browser, before one was open
    this.#room = room;
    this.#entries = [];
    this.#last = null;
    this.#busy = this.#more = false;
    this.#loaded = isFresh(room); // there is nothing to read
    if (roomInAddress() !== room) history.pushState(null, "", `#${room}`);
    this.#showMode(null);
    this.live.clear();
    this.log.enter(room);
    this.files.enter(room);
    this.#notify("");
    this.#loadDraft();
    if (early && early !== text.value) text.value = [text.value, early].filter(Boolean).join("\n");
    this.rooms.draw(room);
    this.#draw();
    this.#connect();
    if (focus) text.focus();
  }

  async #loadRooms() {
    await this.rooms.load(this.inbox.shown ? null : this.#room);
    this.inbox.titled();
    byId("drawer-dot").hidden = this.inbox.count === 0 && this.rooms.waitingBeside(this.#room) === 0;
    this.#title();
  }

  #title() {
    const first = this.#entries.find((entry) => entry.author === "person")?.text;
    const title = this.rooms.titleOf(this.#room) || first?.slice(0, 80) || words.newConversation;
    const shown = this.inbox.shown ? words.approvals : this.#entries.length ? title : "";
    byId("room-title").textContent = this.inbox.shown ? words.approvals : title;
    const waiting = this.inbox.count ? `(${this.inbox.count}) ` : "";
    document.title = waiting + (shown ? `${shown} · Signalbox` : "Signalbox");
  }

  // ---- the timeline

  /** Read what is new. Calls while one is under way come as one more after it. */
  async refresh() {
    if (isFresh(this.#room)) return;
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#readAll();
    try {
      await this.#reading;
    } finally {
      this.#reading = null;
    }
  }

  async #readAll() {
    do {
      this.#again = false;
      const room = this.#room;
      try {
        await this.#read(room);
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        if (room !== this.#room) continue;
        this.#notify(error.retry ? "" : error.message);
        if (error.retry) this.#tryAgainLater();
      }
    } while (this.#again);
  }

  /** How much runs here unasked, where that isn't as ever. Trust ends by itself. */
  #showMode(mode) {
    clearTimeout(this.#trust);
    const left = mode?.until ? Date.parse(mode.until) - Date.now() : Infinity;
    const told = left > 0 && mode && words.modes[mode.name];
    byId("mode").hidden = !told;
    byId("mode").textContent = told ? told({ ...mode, until: mode.until && until(mode.until) }) : "";
    if (told && mode.until) this.#trust = setTimeout(() => this.#showMode(null), left);
  }

  #tryAgainLater() {
    setTimeout(() => this.refresh(), 3_000);
  }

  async #read(room) {
    const newest = this.#entries.at(-1)?.at;
    let answer = await this.#timeline(room, newest && { since: newest });
    if (room !== this.#room) return void (this.#again = true);
    if (answer.entries.some((entry) => this.#isStranger(entry))) answer = await this.#timeline(room);
    if (room !== this.#room) return void (this.#again = true);
    this.#take(answer);
  }

  /** The room as the events tell it. While it is being read it is read once more instead: that may be older. */
  #hear(room) {
    if (this.#reading || room.entries.some((entry) => this.#isStranger(entry))) this.refresh();
    else this.#take(room);
  }

  #take(answer) {
    const first = !this.#loaded;
    const top = this.#entries[this.#span().start]?.id;
    this.#merge(answer.entries);
    if (!first && !this.log.atEnd) this.#stay(top);
    this.#busy = answer.busy;
    this.#showMode(answer.mode);
    if (first) this.#more = answer.entries.length >= PAGE / 2; // a page may be cut short
    this.#loaded = true;
    this.#draw({ first });
    if (first && entryInAddress()) this.#point(entryInAddress());
    this.#lookAround(first ? 0 : SOON);
  }

  /** What else may have changed: once for all that happens within a moment. */
  #lookAround(wait) {
    this.#around ??= setTimeout(() => {
      this.#around = null;
      this.#loadRooms();
      this.inbox.load();
      this.files.load();
    }, wait);
  }

  #timeline(room, query) {
    return request(`/api/rooms/${room}/timeline${query ? `?${new URLSearchParams(query)}` : ""}`);
  }

  /** A brief entry that we do not have in this version. */
  #isStranger(entry) {
    return entry.at === undefined && this.#entries.find((known) => known.id === entry.id)?.version !== entry.version;
  }

  #merge(window) {
    const known = new Map(this.#entries.map((entry) => [entry.id, entry]));
    const inside = new Set(window.map((entry) => entry.id));
    const fresh = window.map((entry) => (entry.at === undefined ? { ...known.get(entry.id), ...entry } : entry));
    const older = fresh.length ? this.#entries.filter((entry) => !inside.has(entry.id) && entry.at < fresh[0].at) : [];
    this.#entries = [...older, ...fresh];
  }

  // ---- which of the messages are drawn

  /** The place of the first one that is drawn, and of the one after the last. */
  #span(room = DRAWN) {
    const found = this.#last === null ? -1 : this.#entries.findIndex((entry) => entry.id === this.#last);
    const end = found < 0 ? this.#entries.length : found + 1;
    return { start: Math.max(0, end - room), end };
  }

  #begin(start) {
    const end = Math.min(this.#entries.length, Math.max(0, start) + DRAWN);
    this.#last = end === this.#entries.length ? null : this.#entries[end - 1].id;
  }

  /** Draw from another place on, and keep in place what is read. */
  #move(start) {
    this.#begin(start);
    this.log.keeping(() => this.#drawLog());
  }

  /** Whoever reads further up keeps what they read, whatever comes below. */
  #stay(top) {
    const start = this.#entries.findIndex((entry) => entry.id === top);
    if (start >= 0 && this.#entries.length - start > DRAWN) this.#begin(start);
  }

  #toNewest() {
    this.#last = null;
    this.#drawLog();
    this.log.toEnd();
  }

  /** Draw older ones, which may have to be read first. */
  async #older() {
    if (this.#moving || !this.#loaded) return;
    const { start } = this.#span();
    if (start > 0) return this.#move(start - STEP);
    if (!this.#more) return;
    this.#moving = byId("earlier").disabled = true;
    try {
      await this.#readOlder(this.#room);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#notify(error.message);
    } finally {
      this.#moving = byId("earlier").disabled = false;
    }
  }

  async #readOlder(room) {
    const { entries } = await this.#timeline(room, { before: this.#entries[0].at });
    if (room !== this.#room) return;
    const top = this.#entries[0].id;
    const known = new Set(this.#entries.map((entry) => entry.id));
    const older = entries.filter((entry) => !known.has(entry.id));
    this.#more = older.length > 0 && entries.length >= PAGE / 2;
    this.#entries = [...older, ...this.#entries];
    this.#move(this.#entries.findIndex((entry) => entry.id === top) - STEP);
  }

  /** Show the message that a link points to, which may stand further up than what was read. */
  async #point(id) {
    const room = this.#room;
    const place = () => this.#entries.findIndex((entry) => entry.id === id);
    try {
      for (let pages = 0; place() < 0 && this.#more && pages < POINT_PAGES; pages += 1) {
        await this.#readOlder(room);
        if (room !== this.#room) return;
      }
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return this.#notify(error.message);
    }
    if (place() < 0) return this.#notify(words.gone);
    this.#begin(place() - DRAWN / 2);
    this.#drawLog();
    this.log.point(id);
  }

  // ---- drawing

  #draw({ first = false } = {}) {
    if (!this.#room) return;
    let news = false;
    const followed = this.log.following(() => {
      const agents = this.#entries.filter((entry) => entry.author === "agent").length;
      news = this.#drawLog();
      this.live.settle({ busy: this.#busy, news: news && agents > 0 && this.#entries.at(-1)?.author === "agent" });
    }, { always: first });
    if (news && !followed) this.log.showJump();
    this.#drawControls();
    this.#title();
  }

  #drawLog() {
    const pending = this.#unseen(this.outbox.of(this.#room));
    const { start, end } = this.#span(DRAWN - Math.min(pending.length, STEP));
    const toNewest = end === this.#entries.length;
    byId("earlier").hidden = start === 0 && !this.#more;
    byId("welcome").hidden = !this.#loaded || this.#entries.length + pending.length > 0;
    return this.log.draw(this.#entries.slice(start, end), toNewest ? pending : [], { toNewest });
  }

  /** Pending messages that the timeline does not show yet: the bell may be quicker than the answer to the request. */
  #unseen(items) {
    const claimed = new Set();
    return items.filter((item) => {
      const entry = this.#entries.find((one) =>
        one.author === "person" && one.name === this.#me.name && one.text === item.text && one.at > (item.after ?? "") && !claimed.has(one.id));
      if (entry) claimed.add(entry.id);
      return !entry;
    });
  }

  #drawControls() {
    const working = this.#busy || this.live.active;
    byId("stop").hidden = !working || !this.#me.may_write;
    byId("stop").disabled = this.live.stopping;
    byId("stop").querySelector("span").textContent = this.live.stopping ? words.stopping : words.stop;
    byId("send").disabled = !this.#maySend();
  }

  #introduce() {
    const { name, role, banner, ideas, may_write: mayWrite, console: mayOperate, provider } = this.#me;
    const called = [h("strong", {}, name), role !== name && h("span", {}, words.roles[role] ?? role)];
    const toDo = [
      ...words.otherLanguages.map(([other, label]) => ({ label, lang: other, act: () => choose(other) })),
      provider && { label: words.signOut, act: () => this.#signOut() },
    ].filter(Boolean);
    byId("banner").textContent = banner;
    byId("banner").hidden = !banner;
    byId("whoami").replaceChildren(
      h("span", { class: "avatar", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "?"),
      h("button", { type: "button", class: "who", "aria-haspopup": "menu", "data-testid": "who", onclick: (event) => openMenu(event.currentTarget, toDo) }, ...called),
      mayOperate ? h("a", { href: "/console", class: "ghost" }, icon("console"), words.console) : "");
    if (name !== role) byId("welcome-title").textContent = words.welcome(name); // the first owner is called "owner"
    byId("composer").hidden = !mayWrite;
    byId("read-only").hidden = mayWrite;
    const button = (idea) => h("button", { type: "button", class: "idea", onclick: () => this.#say(idea, []) }, idea);
    byId("ideas").replaceChildren(...(mayWrite ? ideas.map(button) : []));
  }

  async #signOut() {
    try {
      const { next } = await request("/sign-out", { method: "POST" });
      location.assign(next);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#notify(error.message);
    }
  }

  #notify(sentence) {
    byId("notice").textContent = sentence;
    byId("notice").hidden = !sentence;
  }

  // ---- the person

  #listenToPerson() {
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#send();
      }
    });
    text.addEventListener("input", () => this.#composerChanged());
    byId("stop").addEventListener("click", () => this.#stop());
    byId("earlier").addEventListener("click", () => this.#older());
    byId("new-room").addEventListener("click", () => this.#go(newRoom()));
    byId("open-drawer").addEventListener("click", () => this.#openDrawer());
    byId("close-drawer").addEventListener("click", () => this.#closeDrawer({ focus: true }));
    byId("backdrop").addEventListener("click", () => this.#closeDrawer({ focus: true }));
    wide.addEventListener("change", () => this.#closeDrawer());
    addEventListener("keydown", (event) => this.#key(event));
    byId("show-keys").addEventListener("click", showKeys);
    byId("to-search").addEventListener("click", () => this.palette.open());
    byId("to-inbox").addEventListener("click", (event) => {
      event.preventDefault();
      this.#toInbox();
    });
    addEventListener("popstate", () => (location.hash === INBOX ? this.#toInbox() : this.#go(roomInAddress() ?? newRoom())));
    addEventListener("pagehide", () => (this.#seen(), this.#saveDraft()));
    addEventListener("online", () => this.#connect());
    document.addEventListener("visibilitychange", () => this.#visibility());
    this.#listenForFiles();
  }

  #listenForFiles() {
    const input = byId("file-input");
    const take = (files) => this.#me.may_write && files.length && this.attachments.add(this.#room, [...files]);
    byId("attach").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      take(input.files);
      input.value = "";
    });
    text.addEventListener("paste", (event) => {
      if (!event.clipboardData.files.length) return;
      event.preventDefault();
      take(event.clipboardData.files);
    });
    const drop = byId("drop");
    const holdsFiles = (event) => this.#me.may_write && event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      drop.hidden = false;
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) drop.hidden = true;
    });
    addEventListener("drop", (event) => {
      drop.hidden = true;
      if (!holdsFiles(event)) return;
      event.preventDefault();
      take(event.dataTransfer.files);
      text.focus();
    });
  }

  #maySend() {
    return this.#room && !this.attachments.uploading && (text.value.trim() || this.attachments.ready.length);
  }

  #send() {
    if (!this.#maySend()) return;
    const written = text.value;
    if ([...written].length > this.#me.text_limit) return this.#notify(words.tooLong(this.#me.text_limit));
    const files = this.attachments.ready;
    const replaces = this.rewriting.id;
    text.value = "";
    this.attachments.clear();
    this.rewriting.set(null);
    this.#say(written, files, replaces);
  }

  /** `replaces` is the message in whose place this is said. */
  #say(written, files, replaces = null) {
    this.#notify("");
    this.outbox.add({ room: this.#room, text: written, files, replaces, after: this.#entries.at(-1)?.at ?? "" });
    this.#saveDraft();
    this.#toNewest();
    text.focus();
  }

  /** Stored at the other end: show it from there before the pending one goes. */
  async #accepted(item, { signal_id }) {
    const begins = isFresh(item.room);
    hasBegun(item.room);
    if (item.room !== this.#room) return;
    if (begins || !this.#events) this.#connect();
    if (!this.#entries.some((entry) => entry.id === signal_id)) await this.refresh();
  }

  /** What is quoted stands before what is written already. */
  #quote(quoted) {
    text.value = quoted + text.value;
    this.#composerChanged();
    text.focus();
    text.setSelectionRange(text.value.length, text.value.length);
  }

  /** Open the newest message in the composer; what stood there comes back when it is cancelled. */
  #rewrite(entry) {
    this.rewriting.begin(entry.id, { text: text.value, files: this.attachments.ready });
    this.#write(entry);
  }

  #write(draft) {
    text.value = draft.text;
    this.attachments.restore(draft.files);
    this.#composerChanged();
    text.focus();
  }

  #editAgain(item) {
    this.outbox.remove(item.id);
    if (item.replaces) this.rewriting.begin(item.replaces, { text: "", files: [] });
    text.value = item.text + (text.value ? `\n${text.value}` : "");
    this.attachments.restore([...item.files, ...this.attachments.ready]);
    text.focus();
  }

  async #form(button) {
    try {
      return await request(`/api/approvals/${encodeURIComponent(button.approval_id)}/form?choice=${button.choice}`);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return { notice: error.message };
    }
  }

  async #decide(button, reason, values) {
    const body = { id: newId(), room: this.#room, choice: button.choice, reason, values };
    for (let tries = 1; ; tries += 1) {
      try {
        const path = `/api/approvals/${encodeURIComponent(button.approval_id)}`;
        const { outcome, notice } = await request(path, { method: "POST", body });
        this.refresh();
        return { decided: outcome === "decided" || outcome === "duplicate", notice };
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        if (!error.retry || tries === CLICK_TRIES) return { decided: false, notice: error.message };
        await sleep(500 * 2 ** tries);
      }
    }
  }

  /** It is stopping until the timeline or the events tell of the end: a tool at work may have to end first. */
  async #stop() {
    const room = this.#room;
    this.#showStopping(true);
    try {
      const { outcome, notice } = await request(`/api/rooms/${room}/stop`, { method: "POST", body: { id: newId() } });
      if (room !== this.#room) return;
      this.#notify(notice ?? "");
      if (outcome === "unchanged") this.#showStopping(false);
      await this.refresh();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (room !== this.#room) return;
      this.#notify(words.couldNotStop(error.message));
      this.#showStopping(false);
    }
  }

  #showStopping(stopping) {
    this.log.following(() => (this.live.stopping = stopping));
    this.#drawControls();
  }

  // ---- drafts

  #composerChanged() {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
    this.#drawControls();
    this.#saveDraft();
  }

  get #draftKey() {
    return `signalbox.draft.${this.#me.identity}.${this.#room}`;
  }

  #saveDraft() {
    if (!this.#room) return;
    const draft = { text: text.value, files: this.attachments.ready, replaces: this.rewriting.id };
    storage.set(this.#draftKey, draft.text || draft.files.length ? draft : null);
  }

  #loadDraft() {
    const draft = storage.get(this.#draftKey, { text: "", files: [] });
    text.value = draft.text;
    this.attachments.restore(draft.files);
    this.rewriting.set(draft.replaces ?? null);
  }

  // ---- drawer

  #openDrawer() {
    document.body.classList.add("drawer");
    byId("backdrop").hidden = false;
    byId("main").inert = true;
    byId("open-drawer").setAttribute("aria-expanded", "true");
    byId("close-drawer").focus();
  }

  #closeDrawer({ focus = false } = {}) {
    if (!document.body.classList.contains("drawer")) return false;
    document.body.classList.remove("drawer");
    byId("backdrop").hidden = true;
    byId("main").inert = false;
    byId("open-drawer").setAttribute("aria-expanded", "false");
    if (focus) byId("open-drawer").focus();
    return true;
  }

  // ---- keys

  #key(event) {
    if (event.key === "Escape") return document.querySelector("dialog[open]") || this.#escape();
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      return this.palette.open();
    }
    const writes = event.target.closest?.("input, textarea, select, button, summary, [contenteditable]"); // a letter is meant for what is in focus
    if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const does = { "?": showKeys, "/": () => text.focus(), n: () => this.#go(newRoom()), i: () => this.#toInbox() }[event.key];
    if (!does) return;
    event.preventDefault(); // else the letter would stand in what is in focus by then
    does();
  }

  #toEntry({ room, entry }) {
    this.#closeDrawer();
    history.pushState(null, "", `#${room}/${encodeURIComponent(entry)}`);
    this.open(room, { focus: false });
  }

  /** All of the conversation was in view until now. */
  #seen() {
    if (this.#room && this.log.atEnd && !this.inbox.shown) this.rooms.read(this.#room, this.#entries.at(-1)?.at);
  }

  #places() {
    const page = ([address, title]) => ({ title, icon: "console", go: () => location.assign(address) });
    return [
      { title: words.newConversation, icon: "plus", go: () => this.#go(newRoom()) },
      { title: words.approvals, icon: "hand", go: () => this.#toInbox() },
      ...this.rooms.places,
      ...(this.#me.console ? words.consolePages.map(page) : []),
    ];
  }

  #escape() {
    if (this.#closeDrawer({ focus: true })) return;
    if (this.rewriting.cancel()) return;
    if (this.files.shown) this.files.hide();
  }

  // ---- events

  #connect() {
    clearTimeout(this.#reconnect);
    this.#events?.close();
    this.#events = null;
    if (isFresh(this.#room)) return this.#listenForQuestions();
    const newest = this.#entries.at(-1)?.at;
    const since = newest ? `?${new URLSearchParams({ since: newest })}` : "";
    const events = (this.#events = new EventSource(`/api/rooms/${this.#room}/events${since}`));
    events.onopen = () => {
      this.#connection("");
      this.outbox.run();
    };
    events.addEventListener("changed", (event) => events === this.#events && this.#hear(JSON.parse(event.data)));
    events.addEventListener("questions", () => this.inbox.changed());
    events.addEventListener("progress", (event) => {
      this.log.following(() => this.live.hear(JSON.parse(event.data)));
      this.#drawControls();
    });
    events.onerror = () => {
      if (events !== this.#events) return;
      this.#connection(words.reconnecting);
      if (events.readyState !== EventSource.CLOSED) return;
      this.#events = null;
      this.#reconnect = setTimeout(() => this.#look(), 2_000);
    };
  }

  /** A conversation without a message has no stream: what waits for people is told by one of its own. */
  #listenForQuestions() {
    this.#connection("");
    const events = (this.#events = new EventSource("/api/inbox/events"));
    events.addEventListener("questions", () => this.inbox.changed());
  }

  /** The stream was refused, not cut: ask why. */
  async #look() {
    try {
      await this.#timeline(this.#room);
      this.#connect();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (error.retry) return void (this.#reconnect = setTimeout(() => this.#look(), 2_000));
      this.#connection(words.notConnected);
      this.#notify(error.message);
    }
  }

  #connection(state) {
    byId("connection").textContent = state;
  }

  #visibility() {
    clearTimeout(this.quiet);
    if (document.hidden) {
      this.#seen();
      this.quiet = setTimeout(() => {
        this.#events?.close();
        this.#events = null;
      }, QUIET_AFTER);
    } else if (!this.#events) {
      this.#connect();
    }
  }
}

async function whoAmI() {
  for (;;) {
    try {
      return await request("/api/me");
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (!error.retry) location.reload(); // the server's own page says what to do
      byId("connection").textContent = words.connecting;
      await sleep(2_000);
    }
  }
}

await new Page(await whoAmI()).start();
