// The page that asks before a link signs this browser in as somebody.

const button = document.getElementById("become");

button.addEventListener("click", async () => {
  button.disabled = true;
  let answer = null;
  try {
    answer = await fetch(location.pathname, { method: "POST", headers: { "X-Signalbox": "1" } });
  } catch {
    // not reached: the page that comes says so
  }
  if (answer?.ok) location.replace("/");
  else location.reload();
});
button.focus();
