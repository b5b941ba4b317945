// Airflow shows this page in a frame of its own origin. The frame may not navigate Airflow's window, so links that lead
// out of it are followed in the parent's document; and the colours are those that were chosen in Airflow.
"use strict";

const REFRESH_MILLISECONDS = 30000;
const framed = window.parent !== window;

function parentRoot() {
  try {
    return framed ? window.parent.document.documentElement : null;
  } catch {
    return null; // another origin's frame
  }
}

function chooseColours() {
  const chosen = ["light", "dark"].find((name) => parentRoot()?.classList.contains(name)) ?? localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

function followOutside(event) {
  const link = event.target.closest?.('a[target="_top"]');
  const root = parentRoot();
  if (!link || !root) {
    return;
  }
  event.preventDefault();
  const twin = root.ownerDocument.createElement("a");
  twin.href = link.href;
  if (event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey) {
    twin.target = "_blank";
  }
  twin.click();
}

async function copyText(event) {
  const button = event.target.closest?.("button.copy");
  if (!button) {
    return;
  }
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
  } catch {
    // Without HTTPS there is no clipboard: select the text, so that the keyboard can copy it.
    getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    button.textContent = "press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "copy"; }, 2000);
}

function isBusy() {
  return document.hidden || !getSelection().isCollapsed || document.activeElement?.matches("input, button, a");
}

async function refresh() {
  if (isBusy()) {
    return;
  }
  const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) {
    sayThatItIsOld(answer);
  } else if (!isBusy()) {
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    document.querySelector("main").replaceChildren(...fresh.childNodes);
  }
}

function sayThatItIsOld(answer) {
  const main = document.querySelector("main");
  const line = main.querySelector(".old") ?? document.createElement("p");
  line.className = "old notice bad";
  line.textContent = answer?.status === 401
    ? "You are signed out: what follows is old. Reload Airflow and sign in again."
    : `Airflow ${answer ? `answers ${answer.status}` : "does not answer"}: what follows is old.`;
  main.prepend(line);
}

chooseColours();
if (parentRoot()) {
  new MutationObserver(chooseColours).observe(parentRoot(), { attributes: true, attributeFilter: ["class"] });
}
addEventListener("storage", chooseColours);
document.addEventListener("click", followOutside);
document.addEventListener("auxclick", followOutside);
document.addEventListener("click", copyText);
setInterval(refresh, REFRESH_MILLISECONDS);
