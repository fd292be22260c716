// The side panel: starting runs, and asking again for what ran and what the agent's threads hold.

import { act, tell } from "./control.js";
import { morph } from "./morph.js";
import { localise } from "./times.js";

const live = () => document.getElementById("panel-live");
let turn = 0;

export function listen() {
  const offers = [...document.querySelectorAll("[data-preset]")];
  for (const offer of offers) offer.addEventListener("click", () => propose(offer, offer.dataset.preset));
  document.getElementById("another").addEventListener("click", (event) => {
    propose(event.currentTarget, offers[turn++ % offers.length].dataset.preset);
  });
  document.getElementById("other").addEventListener("change", (event) => {
    if (event.currentTarget.value) propose(event.currentTarget, event.currentTarget.value);
    event.currentTarget.value = "";
  });
  live().addEventListener("toggle", (event) => event.target.dataset.thread && refreshPanel(), true);
}

async function propose(button, preset) {
  button.setAttribute("aria-busy", "true");
  tell("");
  await act("/sandbox/propose", { preset, user: document.getElementById("asker").value });
  button.removeAttribute("aria-busy");
}

export async function refreshPanel() {
  const opened = [...live().querySelectorAll("details[open][data-thread]")];
  const query = new URLSearchParams(opened.map((thread) => ["thread", thread.dataset.thread]));
  const answer = await fetch(`/page/panel?${query}`);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  localise(fresh);
  live().removeAttribute("data-keep");
  morph(live(), fresh.getElementById("panel-live"));
  live().setAttribute("data-keep", "");
}
