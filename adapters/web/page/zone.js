// Times that people mention are read by their own clocks: the browser's zone is told, once, where nobody knows theirs.

import { storage } from "./dom.js";
import { Failed, request } from "./net.js";

export async function tellZone(identity) {
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  const key = `signalbox.zone.${identity}`;
  if (!zone || /^(Etc\/)?UTC$/.test(zone) || storage.get(key, "") === zone) return; // UTC is what is assumed anyway
  try {
    await request("/api/me/zone", { method: "POST", body: { zone } });
    storage.set(key, zone);
  } catch (error) {
    if (!(error instanceof Failed)) throw error; // with the next visit
  }
}
