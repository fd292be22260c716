// Keeping the page as the workspace is: wait for a change, ask for the page again, take over what differs.

import { settle } from "./modal.js";
import { fillMoments } from "./form.js";
import { morph } from "./morph.js";
import { refreshPanel } from "./panel.js";
import { localise } from "./times.js";

// Shorter than the grace that the demo gives open requests when it stops.
const PATIENCE_S = 0.8;
const QUIET_ROUNDS = 3;
const NEAR_END = 80;
let asked = 0;
let drawn = 0;

// Draw the page anew, if it can be had. Answers that come late, after a newer one, are dropped.
export async function refresh() {
  const turn = ++asked;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (turn < drawn) return;
  drawn = turn;
  take(fresh);
}

function take(fresh) {
  const known = new Set([...document.querySelectorAll(".message")].map((message) => message.id));
  const held = document.activeElement?.closest(".message");
  const atEnd = isAtEnd();
  localise(fresh);
  morph(document.body, fresh.body);
  fillMoments(document);
  settle();
  if (document.activeElement === document.body && held?.isConnected) held.querySelector("article").focus();
  announce([...document.querySelectorAll(".message")].filter((message) => !known.has(message.id)), atEnd);
}

function announce(news, atEnd) {
  if (news.length === 0) return;
  const log = document.getElementById("announcer");
  log.replaceChildren(...news.map((message) => line(message.dataset.said)));
  if (atEnd) toEnd();
  else document.getElementById("newer").hidden = false;
}

function line(text) {
  const said = document.createElement("span");
  said.textContent = text;
  return said;
}

const box = () => document.getElementById("scroll");
const isAtEnd = () => box().scrollHeight - box().scrollTop - box().clientHeight < NEAR_END;

export function toEnd() {
  box().scrollTop = box().scrollHeight;
  const newer = document.getElementById("newer");
  if (newer) newer.hidden = true;
}

export function listen() {
  document.getElementById("newer")?.addEventListener("click", toEnd);
  box().addEventListener("scroll", () => {
    const newer = document.getElementById("newer");
    if (newer && isAtEnd()) newer.hidden = true;
  });
}

// The panel also shows what rings no bell here, such as a tool that ran; so it is asked for in quiet times as well.
export async function follow() {
  let seen = Number(document.body.dataset.seen);
  let quiet = 0;
  for (;;) {
    try {
      const answer = await fetch(`/sandbox/changes?seen=${seen}&wait_s=${PATIENCE_S}`);
      const now = (await answer.json()).seen;
      quiet = now === seen ? quiet + 1 : 0;
      if (now !== seen) await refresh();
      seen = now;
      if (quiet % QUIET_ROUNDS === 0) await refreshPanel();
      document.body.removeAttribute("data-lost");
    } catch {
      document.body.setAttribute("data-lost", "");
      await new Promise((again) => setTimeout(again, 1000));
    }
  }
}
