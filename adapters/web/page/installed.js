// The page as an app: the worker that keeps its files, the number on its icon, and what goes when a person signs out.

import { sleep, storage } from "./dom.js";

const SHELL = "signalbox-shell-"; // before the version, in the name of what worker.js keeps
const MINE = "signalbox.";
const ME = "signalbox.me";
const AFTER = 2_000; // milliseconds: what is shown comes first
const UPDATE_EVERY = 3_600_000; // milliseconds; an app may stay open for weeks

/** Who was here last, for a page that opens while Signalbox is away. */
export const remembered = () => storage.get(ME, null);
export const remember = (me) => storage.set(ME, me);

/** Keep the page's files in this browser. `onGo(hash)` when a notification is clicked; `mayReload()` says whether nothing would be lost. */
export async function keepShell({ onGo, mayReload }) {
  const workers = navigator.serviceWorker; // browsers offer it to https and to this machine alone
  if (!workers) return;
  workers.addEventListener("message", ({ data }) => data?.go !== undefined && onGo(data.go));
  workers.startMessages();
  if (workers.controller) reloadOnceUpdated(workers, mayReload);
  await sleep(AFTER);
  try {
    const registration = await workers.register("/static/worker.js", { scope: "/", updateViaCache: "none" });
    setInterval(() => registration.update().catch(() => {}), UPDATE_EVERY); // away: the next one will do
  } catch {
    // forbidden by the browser's settings, or Signalbox is away: the page works without
  }
}

/** The program is newer than this page: load it anew once nobody looks. */
function reloadOnceUpdated(workers, mayReload) {
  workers.addEventListener("controllerchange", () => {
    const reload = () => document.hidden && mayReload() && location.reload();
    document.addEventListener("visibilitychange", reload);
    reload();
  });
}

/** The number on the icon of the installed app. */
export function badgeApp(count) {
  const told = count ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.();
  told?.catch(() => {}); // not allowed here: the tab has the number too
}

/** Nothing of the person stays in this browser. */
export async function forgetHere() {
  badgeApp(0);
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(MINE)) localStorage.removeItem(key);
  } catch {
    // the browser forbids it, so nothing is kept there
  }
  const registration = await navigator.serviceWorker?.getRegistration("/");
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  await registration?.unregister();
  if (window.caches) for (const name of await caches.keys()) if (name.startsWith(SHELL)) await caches.delete(name);
}
