// The page: one conversation at a time, with what is lasting from the timeline and what is passing from the events.

import { byId, coded, h, icon, newId, painted, part, sleep, storage, until } from "./dom.js";
import { DRAWN, Entries } from "./entries.js";
import { Attachments, FilesPanel } from "./files.js";
import { badgeApp, forgetHere, keepShell, remember, remembered } from "./installed.js";
import { choose } from "./language.js";
import { Live } from "./live.js";
import { Log } from "./log.js";
import { showBanner } from "./banner.js";
import { Failed, request, upload } from "./net.js";
import { Outbox } from "./outbox.js";
import { Rewriting } from "./rewriting.js";
import { entryInAddress, hasBegun, INBOX, intoAddress, isFresh, isInbox, newRoom, roomInAddress, Rooms } from "./rooms.js";
import { words } from "./words.js";

const SOON = 300; // milliseconds
const { early } = self; // what was asked for ahead of this script
const { FIRST } = early; // entries that are read when a conversation opens
const PAGE = 200; // entries the timeline gives at once
const MOST_PENDING = 100; // messages on their way that are drawn at most
const ROOMS_EVERY = 20_000; // milliseconds between looks at the other rooms
const QUIET_AFTER = 60_000; // a hidden tab lets go of its connection: browsers allow six to one server
const SIGNED_IN_AGAIN = 10_000;
const SLEPT = 150_000; // without a tick: hidden tabs have one a minute, those that sleep none
const CLICK_TRIES = 4;
const NEW = "#new"; // where the installed app's shortcut leads
const LATER = ["menu", "palette", "preview", "undo", "lightbox", "code"]; // read ahead, with the messages on screen
const NO_INBOX = { count: 0, shown: false, told: [], hide() {}, titled() {}, changed() {} }; // until its part is there

const ICON = byId("icon").getAttribute("href");
const text = byId("composer-text");
const wide = matchMedia("(min-width: 900px)");
const keyed = matchMedia("(hover: hover)"); // whoever has a mouse has keys: nothing comes up over the page when it takes focus

class Page {
  #me;
  #room = null;
  #entries = new Entries();
  #busy = false;
  #moving = false;
  #loaded = false;
  #events = null;
  #reading = null; // the refresh under way
  #again = false; // something changed while it was
  #around = null; // the timer of a look at what else changed
  #reconnect = 0;
  #refused = ""; // what was told of a stream that was refused
  #ticked = Date.now();
  #today = new Date().toDateString();
  #trust = 0; // the timer of a mode that ends
  #early = []; // files that were attached before a conversation was open
  #coming = null; // the inbox, once somebody asked for it
  inbox = NO_INBOX;

  constructor(me) {
    this.#me = me;
    this.live = new Live();
    this.files = new FilesPanel();
    this.rooms = new Rooms({ mayWrite: me.may_write, onOpen: (room) => this.#go(room), onFailed: (why) => this.#notify(why) });
    this.attachments = new Attachments({ limit: me.upload_limit, onChange: () => this.#composerChanged(), choose: () => byId("file-input").click() });
    this.outbox = new Outbox(me.identity, {
      onChange: () => this.#draw(),
      onAccepted: (item, verdict) => this.#accepted(item, verdict),
    });
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
      newer: () => this.#newer(),
      newest: () => this.#toNewest(),
    });
  }

  async start() {
    this.#introduce();
    this.#listenToPerson();
    const wanted = location.hash;
    if (wanted === NEW) this.#toNew();
    const known = wanted === NEW ? null : (roomInAddress() ?? this.outbox.room);
    if (known) this.open(known, { focus: keyed.matches });
    const ours = location.hash;
    await this.rooms.load(known, early.rooms);
    const led = location.hash === ours ? wanted : location.hash; // somebody may be quicker than the list
    if (this.#room) this.rooms.draw(this.#room);
    else this.open(roomInAddress() ?? this.rooms.newest ?? newRoom(), { focus: keyed.matches });
    this.#title();
    if (isInbox(led)) this.#toInbox(led);
    await painted();
    this.outbox.listen();
    this.outbox.run();
    keepShell({ onGo: (hash) => this.#toHash(hash), mayReload: () => !this.attachments.uploading });
    setInterval(() => this.#tick(), ROOMS_EVERY);
    LATER.forEach(part);
    await this.#withInbox();
    this.notifications.load();
    (await part("zone")).tellZone(this.#me.identity);
  }

  // ---- conversations

  /** To where the person wants to be. */
  #go(room) {
    this.#closeDrawer();
    this.open(room);
  }

  /** To a new conversation, without the address that led here. */
  #toNew() {
    history.replaceState(null, "", location.pathname);
    this.#go(newRoom());
  }

  /** To where an address of this page leads. */
  #toHash(hash) {
    if (hash === NEW) return this.#toNew();
    if (location.hash !== hash) history.pushState(null, "", hash);
    if (isInbox(hash)) this.#toInbox(hash);
    else this.#go(roomInAddress() ?? newRoom());
  }

  /** To what waits for the person, in place of the conversation; to one question where the address names it. */
  async #toInbox(hash = INBOX) {
    this.#closeDrawer();
    if (location.hash !== hash) history.pushState(null, "", hash);
    const questionIn = await this.#withInbox();
    if (location.hash !== hash) return; // somewhere else by now
    byId("stage").hidden = true;
    byId("toggle-files").hidden = true;
    if (this.files.shown) this.files.hide();
    byId("to-inbox").setAttribute("aria-current", "page");
    this.inbox.show(questionIn(hash));
    this.notifications.load();
    this.rooms.draw(null);
    this.#loadRooms(); // a conversation that was begun just now is not in the list yet
    this.#title();
  }

  /** What waits for the person, and what they are told of it elsewhere: needed by no conversation's first picture. */
  #withInbox() {
    this.#coming ??= Promise.all([part("inbox"), part("notify")]).then(([{ Inbox, questionIn }, { Notifications }]) => {
      this.inbox = new Inbox(this.#me.identity, { onCount: () => this.#counted(), titleOf: (room) => this.rooms.titleOf(room) });
      this.notifications = new Notifications({ seen: () => this.inbox.told });
      this.inbox.run();
      return questionIn;
    });
    return this.#coming;
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
    const mark = count ? `/static/icon-${encodeURIComponent(count > 9 ? "9+" : count)}.svg` : ICON;
    if (byId("icon").getAttribute("href") !== mark) byId("icon").href = mark;
    badgeApp(count);
    byId("drawer-dot").hidden = count === 0 && this.rooms.waitingBeside(this.#room) === 0;
    this.#title();
  }

  open(room, { focus = true } = {}) {
    this.#leaveInbox();
    if (room === this.#room) {
      if (roomInAddress() !== room) intoAddress(room);
      if (entryInAddress()) return this.#point(entryInAddress());
      return focus && text.focus();
    }
    this.#seen();
    this.#saveDraft();
    const typed = this.#room ? "" : text.value; // typed, or put back by the browser, before one was open
    this.#room = room;
    this.#entries.clear();
    this.#busy = false;
    this.#loaded = isFresh(room); // there is nothing to read
    if (this.#loaded) early.timeline = null;
    if (roomInAddress() !== room) intoAddress(room);
    this.#showMode(null);
    this.live.clear();
    this.log.enter(room);
    this.files.enter(room);
    this.#notify("");
    this.#loadDraft();
    if (typed && typed !== text.value) text.value = [text.value, typed].filter(Boolean).join("\n");
    this.#attach(this.#early.splice(0));
    this.rooms.draw(room);
    this.#draw();
    this.#enter(room);
    if (focus) text.focus();
  }

  /** Read the newest messages, which come packed, and then hear of what changes. */
  async #enter(room) {
    this.#disconnect();
    await this.refresh();
    await painted();
    if (room !== this.#room) return;
    this.log.rate();
    if (!this.#events) this.#connect();
  }

  /** After a sleep the connection may be dead without a word of it; and after midnight, days have other names. */
  #tick() {
    const slept = Date.now() - this.#ticked > SLEPT;
    this.#ticked = Date.now();
    if (this.#today !== new Date().toDateString()) {
      this.#today = new Date().toDateString();
      if (this.#room) this.#drawLog();
    }
    if (document.hidden) return;
    if (slept) this.#connect();
    this.#loadRooms();
  }

  async #loadRooms() {
    await this.rooms.load(this.inbox.shown ? null : this.#room);
    this.inbox.titled();
    byId("drawer-dot").hidden = this.inbox.count === 0 && this.rooms.waitingBeside(this.#room) === 0;
    this.#title();
  }

  #title() {
    const first = this.#entries.all.find((entry) => entry.author === "person")?.text;
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
    const since = this.#entries.latest;
    let answer = await this.#timeline(room, { limit: FIRST, ...(since && { since }) });
    if (room !== this.#room) return void (this.#again = true);
    if (this.#entries.lacks(answer.entries)) answer = await this.#timeline(room, {});
    if (room !== this.#room) return void (this.#again = true);
    this.#take(answer);
  }

  /** The room as the events tell it. While it is being read it is read once more instead: that may be older. */
  #hear(room) {
    if (this.#reading || this.#entries.lacks(room.entries)) this.refresh();
    else this.#take(room);
  }

  #take(answer) {
    const first = !this.#loaded;
    const top = this.#entries.all[this.#entries.span().start]?.id;
    const follows = first || this.log.atEnd;
    if (first) this.#entries.set(answer.entries.filter((entry) => entry.at), { older: answer.entries.length >= FIRST / 2 }); // a page may be cut short
    else if (this.#entries.take(answer.entries, { follows })) this.log.showJump();
    if (follows) this.#entries.toEnd();
    else this.#entries.stay(top);
    this.#busy = answer.busy;
    this.#showMode(answer.mode);
    this.#loaded = true;
    byId("offline").hidden = true;
    this.#draw({ first });
    if (first && entryInAddress()) this.#point(entryInAddress());
    this.#lookAround();
  }

  /** What else may have changed: once for all that happens within a moment. What waits for people is told. */
  #lookAround() {
    this.#around ??= setTimeout(() => {
      this.#around = null;
      if (!this.rooms.saidIn(this.#room, this.#entries.newest && this.#entries.latest)) this.#loadRooms();
      this.files.load();
    }, SOON);
  }

  #timeline(room, query) {
    const asked = early.timeline?.room === room ? early.timeline.answer : null;
    early.timeline = null; // it was asked for while the page was read, and is old by the next time
    return request(`/api/rooms/${room}/timeline?${new URLSearchParams(query)}`, { asked });
  }

  // ---- other messages than the newest

  async #toNewest() {
    if (!this.#entries.newest && !(await this.#readOther({ limit: PAGE }, ({ entries }) => this.#entries.set(entries, { older: entries.length >= PAGE / 2 })))) return;
    this.#entries.toEnd();
    this.#drawLog();
    this.log.toEnd();
  }

  /** Draw older ones, which may have to be read first; what is read stays in its place. */
  async #older() {
    if (this.#moving || !this.#loaded) return;
    if (this.#entries.up()) return this.log.keeping(() => this.#drawLog());
    if (!this.#entries.older) return;
    const take = ({ entries }) => this.log.keeping(() => (this.#entries.before(entries, { older: entries.length >= PAGE / 2 }), this.#drawLog()));
    await this.#readOther({ before: this.#entries.earliest }, take);
  }

  async #newer() {
    if (this.#moving || !this.#loaded) return;
    if (this.#entries.down()) return this.log.keeping(() => this.#drawLog());
    if (this.#entries.newest) return;
    const take = ({ entries, newest = true }) => this.log.keeping(() => (this.#entries.after(entries, { newest }), this.#drawLog()));
    await this.#readOther({ after: this.#entries.latest }, take);
  }

  /** Read a page of other messages and take it in. False where that doesn't work, and the person is told. */
  async #readOther(query, take) {
    const room = this.#room;
    this.#moving = byId("earlier").disabled = true;
    try {
      const answer = await this.#timeline(room, query);
      if (room !== this.#room) return false;
      take(answer);
      return true;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (room === this.#room) this.#notify(error.status === 404 && query.around ? words.gone : error.message);
      return false;
    } finally {
      this.#moving = byId("earlier").disabled = false;
    }
  }

  /** Show the message that a link points to, however far up it stands. */
  async #point(id) {
    const take = ({ entries, newest = true }) => this.#entries.set(entries, { older: entries.length >= PAGE / 2, newest });
    if (this.#entries.placeOf(id) < 0 && !(await this.#readOther({ around: id }, take))) return;
    this.#entries.center(id);
    this.#drawLog();
    this.log.point(id);
  }

  // ---- drawing

  #draw({ first = false } = {}) {
    if (!this.#room) return;
    let news = false;
    const followed = this.log.following(() => {
      news = this.#drawLog();
      this.live.settle({ busy: this.#busy, news: news && this.#entries.all.at(-1)?.author === "agent" });
    }, { always: first });
    if (news && !followed) this.log.showJump();
    this.#drawControls();
    this.#title();
  }

  #drawLog() {
    const pending = this.#unseen(this.outbox.of(this.#room));
    const { start, end } = this.#entries.span(DRAWN - Math.min(pending.length, MOST_PENDING));
    const toNewest = this.#entries.newest && end === this.#entries.length;
    byId("earlier").hidden = start === 0 && !this.#entries.older;
    byId("welcome").hidden = !this.#loaded || this.#entries.length + pending.length > 0;
    return this.log.draw(this.#entries.all.slice(start, end), toNewest ? pending.slice(0, MOST_PENDING) : [], { toNewest });
  }

  /** Pending messages that the timeline does not show yet: the bell may be quicker than the answer to the request. */
  #unseen(items) {
    const claimed = new Set();
    return items.filter((item) => {
      const entry = this.#entries.all.find((one) =>
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
    const { name, role, ideas, may_write: mayWrite, console: mayOperate, signs_out: signsOut } = this.#me;
    const called = [h("strong", {}, name), role !== name && h("span", {}, words.roles[role] ?? role)];
    const toDo = [
      ...words.otherLanguages.map(([other, label]) => ({ label, lang: other, act: () => choose(other) })),
      mayOperate && { label: words.importFile, act: () => this.#import() },
      { label: words.myData, act: () => location.assign("/me") },
      signsOut && { label: words.signOut, act: () => this.#signOut() },
    ].filter(Boolean);
    showBanner(this.#me);
    byId("whoami").replaceChildren(
      h("span", { class: "avatar", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "?"),
      h("button", { type: "button", class: "who", "aria-haspopup": "menu", "data-testid": "who", onclick: (event) => this.#menu(event.currentTarget, toDo) }, ...called),
      mayOperate ? h("a", { href: "/console", class: "ghost" }, icon("console"), words.console) : "");
    if (name !== role) byId("welcome-title").textContent = words.welcome(name); // the first owner is called "owner"
    byId("composer").hidden = !mayWrite;
    byId("read-only").hidden = mayWrite;
    const button = (idea) => h("li", {}, h("button", { type: "button", class: "idea", "data-testid": "idea", onclick: (event) => this.#begin(idea, event.currentTarget) },
      h("strong", {}, idea.title), h("span", {}, idea.about)));
    byId("ideas").replaceChildren(...(mayWrite ? ideas.map(button) : []));
  }

  /** Do what an idea is about, in this conversation. */
  async #begin(idea, button) {
    if (!idea.file_name) return this.#say(idea.text, []);
    const room = this.#room;
    button.disabled = true;
    try {
      const file = await upload(room, new File([idea.file_text], idea.file_name, { type: "text/plain" }), () => {});
      if (room === this.#room) this.#say(idea.text, [file]);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#notify(error.message);
    } finally {
      button.disabled = false;
    }
  }

  async #menu(opener, items) {
    const { openMenu } = await part("menu");
    openMenu(opener, items);
  }

  /** Have a conversation's file chosen, and open what it becomes. */
  async #import() {
    const { chosenConversation } = await part("importing");
    try {
      const made = await chosenConversation();
      if (!made) return;
      await this.rooms.load(this.#room);
      location.assign(made.place);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#notify(error.message);
    }
  }

  async #signOut() {
    try {
      if (this.outbox.waiting && !confirm(words.signOutUnsent)) return;
      const { next } = await request("/sign-out", { method: "POST" });
      this.#room = null; // nor is a draft kept as the page goes
      await forgetHere();
      location.assign(next);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#notify(error.message);
    }
  }

  #notify(sentence) {
    byId("notice").replaceChildren(...coded(sentence));
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
    byId("show-keys").addEventListener("click", () => this.#showKeys());
    byId("to-search").addEventListener("click", () => this.#find());
    byId("to-inbox").addEventListener("click", (event) => {
      event.preventDefault();
      this.#toInbox();
    });
    addEventListener("popstate", () => this.#toHash(location.hash));
    addEventListener("pagehide", () => (this.#seen(), this.#saveDraft()));
    addEventListener("online", () => this.#connect());
    addEventListener("offline", () => this.#connection(words.offline));
    addEventListener("focus", () => this.#refused && !this.#events && this.#look());
    document.addEventListener("visibilitychange", () => this.#visibility());
    this.#listenForFiles();
  }

  #listenForFiles() {
    const input = byId("file-input");
    const take = (files) => this.#me.may_write && files.length && this.#attach([...files]);
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

  /** Somebody may be quicker than the page: what comes before a conversation is open waits for it. */
  #attach(files) {
    if (this.#room) this.attachments.add(this.#room, files);
    else this.#early.push(...files);
  }

  #maySend() {
    return this.#room && !this.attachments.uploading && (text.value.trim() || this.attachments.ready.length || this.attachments.failed);
  }

  #send() {
    if (this.attachments.failed) return this.#notify(words.notUploaded(this.attachments.failed.name));
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
    this.outbox.add({ room: this.#room, text: written, files, replaces, after: this.#entries.latest ?? "" });
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
    if (item.replaces) this.#loadRooms(); // its title may be that of the words that it replaces
    if (this.#entries.placeOf(signal_id) < 0) await this.refresh();
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
    if (text.value) text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`; // which has the page laid out
    this.#drawControls();
    this.#saveDraft();
  }

  get #draftKey() {
    return `signalbox.draft.${this.#me.identity}.${this.#room}`;
  }

  #saveDraft() {
    if (!this.#room) return;
    const { ready: files, missing } = this.attachments;
    const draft = { text: text.value, files, missing, replaces: this.rewriting.id };
    storage.set(this.#draftKey, draft.text || files.length || missing.length ? draft : null);
  }

  #loadDraft() {
    const draft = storage.get(this.#draftKey, { text: "", files: [] });
    text.value = draft.text;
    this.attachments.restore(draft.files, draft.missing);
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

  /** From its last stop the next one is its first, and back: what is behind it can't be seen. */
  #stayInDrawer(event) {
    if (document.querySelector("dialog[open]")) return;
    const stops = [...byId("sidebar").querySelectorAll("a[href], button, summary")].filter((one) => one.checkVisibility({ visibilityProperty: true }));
    const leaves = event.shiftKey ? stops[0] : stops.at(-1);
    if (document.activeElement !== leaves && byId("sidebar").contains(document.activeElement)) return;
    event.preventDefault();
    (event.shiftKey ? stops.at(-1) : stops[0]).focus();
  }

  // ---- keys

  #key(event) {
    if (event.key === "Escape") return document.querySelector("dialog[open]") || this.#escape();
    if (event.key === "Tab" && document.body.classList.contains("drawer")) this.#stayInDrawer(event);
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      return this.#find();
    }
    const writes = event.target.closest?.("input, textarea, select, button, summary, [contenteditable]"); // a letter is meant for what is in focus
    if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const does = { "?": () => this.#showKeys(), "/": () => text.focus(), n: () => this.#go(newRoom()), i: () => this.#toInbox(), z: () => this.#takeBack() }[event.key];
    if (!does) return;
    event.preventDefault(); // else the letter would stand in what is in focus by then
    does();
  }

  async #find() {
    const { Palette } = await part("palette");
    this.palette ??= new Palette(() => this.#places(), (found) => this.#toEntry(found));
    this.palette.open();
  }

  async #takeBack() {
    const { takeBack } = await part("undo");
    takeBack();
  }

  async #showKeys() {
    const { showKeys } = await part("palette");
    showKeys();
  }

  #toEntry({ room, entry }) {
    this.#closeDrawer();
    history.pushState(null, "", `#${room}/${encodeURIComponent(entry)}`);
    this.open(room, { focus: false });
  }

  /** All of the conversation was in view until now. */
  #seen() {
    if (this.#room && this.log.atEnd && !this.inbox.shown) this.rooms.read(this.#room, this.#entries.latest);
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
    this.#disconnect();
    if (isFresh(this.#room)) return this.#listenForQuestions();
    const since = this.#entries.latest;
    const query = new URLSearchParams({ limit: FIRST, ...(since && { since }) });
    const events = (this.#events = new EventSource(`/api/rooms/${this.#room}/events?${query}`));
    events.onopen = () => {
      this.#connection("");
      this.outbox.run();
    };
    events.addEventListener("changed", (event) => events === this.#events && this.#hear(JSON.parse(event.data)));
    events.addEventListener("questions", () => this.#asked());
    events.addEventListener("progress", (event) => {
      this.log.following(() => this.live.hear(JSON.parse(event.data)));
      this.#drawControls();
    });
    events.onerror = () => {
      if (events !== this.#events) return;
      this.#connection(navigator.onLine ? words.reconnecting : words.offline);
      if (events.readyState !== EventSource.CLOSED) return;
      this.#events = null;
      this.#reconnect = setTimeout(() => this.#look(), 2_000);
    };
  }

  /** A conversation without a message has no stream: what waits for people is told by one of its own. */
  #listenForQuestions() {
    this.#connection("");
    const events = (this.#events = new EventSource("/api/inbox/events"));
    events.addEventListener("questions", () => this.#asked());
  }

  /** Other questions wait for people: in the inbox, and beside the conversations where they were asked. */
  #asked() {
    this.inbox.changed();
    this.#loadRooms();
  }

  #disconnect() {
    clearTimeout(this.#reconnect);
    this.#events?.close();
    this.#events = null;
  }

  /** The stream was refused, not cut: ask why. */
  async #look() {
    clearTimeout(this.#reconnect);
    try {
      await this.#timeline(this.#room, { limit: FIRST });
      if (byId("notice").textContent === this.#refused) this.#notify("");
      this.#refused = "";
      this.#connect();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (!error.retry) {
        this.#connection(words.notConnected);
        this.#notify(error.message);
        this.#refused = byId("notice").textContent;
      }
      const again = error.retry ? 2_000 : error.status === 401 ? SIGNED_IN_AGAIN : null; // in another tab of this browser, perhaps
      if (again) this.#reconnect = setTimeout(() => this.#look(), again);
    }
  }

  #connection(state) {
    byId("connection").textContent = state;
    byId("offline").hidden = !state || this.#loaded;
  }

  #visibility() {
    clearTimeout(this.quiet);
    if (document.hidden) {
      this.#seen();
      this.quiet = setTimeout(() => this.#disconnect(), QUIET_AFTER);
    } else {
      if (!this.#events) this.#connect();
      this.#tick();
    }
  }
}

/** Who is here; where Signalbox is away, whoever was here last: what they write waits in this browser. */
async function whoAmI() {
  try {
    return await askedWho();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const known = error.retry && remembered();
    if (!known) return untilKnown();
    untilKnown().then((me) => JSON.stringify(me) !== JSON.stringify(known) && location.reload());
    return known;
  }
}

async function askedWho() {
  const asked = early.me;
  early.me = null; // an answer is read once
  const me = await request("/api/me", { asked });
  remember(me);
  return me;
}

async function untilKnown() {
  for (;;) {
    try {
      return await askedWho();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (!error.retry) {
        remember(null);
        location.reload(); // the server's own page says what to do
      }
      byId("connection").textContent = words.connecting;
      await sleep(2_000);
    }
  }
}

await new Page(await whoAmI()).start();
