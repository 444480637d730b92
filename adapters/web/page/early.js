"use strict";

// What is asked for at once, before the rest of the page is there: who looks, the messages, and then the list of
// conversations, which may take longer. No module, since those run only when all of them have come.

self.early = (() => {
  const ROOM = /^[a-z0-9]{6,32}$/;
  const FIRST = 60; // entries that are read when a conversation opens: they fill any screen

  function roomInAddress() {
    const [room] = location.hash.slice(1).split("/");
    return ROOM.test(room) ? room : null;
  }

  const ask = (path) => fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(20_000) });
  const quietly = (asked) => (asked.catch(() => {}), asked); // whoever waits for it hears of it
  const room = roomInAddress();
  const reads = room !== null && !history.state?.fresh; // in a new conversation is nothing to read
  const answer = reads ? quietly(ask(`/api/rooms/${room}/timeline?limit=${FIRST}`)) : null;
  const me = quietly(ask("/api/me"));
  const list = () => ask("/api/v1/rooms");
  const rooms = quietly((answer ?? me).then(list, list));
  return { FIRST, roomInAddress, me, timeline: reads ? { room, answer } : null, rooms };
})();
