// The page of an invitation: a name, and this browser is somebody's.

const form = document.getElementById("join");
const said = document.getElementById("said");
const button = form.querySelector("button");

/** Say what went on, and leave the way into the page where it is done. */
function tell(words, wrong) {
  said.textContent = words;
  said.classList.toggle("wrong", wrong);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  try {
    const answer = await fetch(`/api${location.pathname}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: form.elements.name.value }),
    });
    const told = await answer.json();
    if (!answer.ok) return tell(told.error, true);
    if (!told.told) return location.replace("/");
    tell(told.told, false);
    for (const part of form.querySelectorAll("label, input, button")) part.remove();
    const go = document.createElement("a");
    go.href = "/";
    go.textContent = "Go on to the page";
    go.className = "choice";
    form.append(go);
    go.focus();
  } catch {
    tell("Signalbox isn't answering. Try again in a moment: your invitation is still good unless somebody used it.", true);
  } finally {
    button.disabled = false;
  }
});
form.elements.name.focus();
