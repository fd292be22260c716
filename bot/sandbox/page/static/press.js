// Pressing buttons and choosing things, in messages and views, with the confirm dialog where an element asks for one.

import { act, channel, inOrder, me, tell } from "./control.js";
import { keepTyped, valueOf } from "./form.js";
import { refresh } from "./live.js";
import { cameFrom } from "./modal.js";

export function listen() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-press]");
    if (button) press(button, button.dataset.value ?? null, button);
  });
  document.addEventListener("change", (event) => {
    const field = event.target.closest("[data-field]");
    if (!field) return;
    if (field.dataset.sends === "change") press(field, valueOf(field), event.target);
    else keepWhereTyped(field);
  });
  document.addEventListener("input", (event) => {
    const field = event.target.closest('[data-field][data-sends="character"]');
    if (field) press(field, valueOf(field), event.target);
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest('[data-field][data-sends="enter"]');
    if (!field || event.key !== "Enter" || event.target.tagName === "TEXTAREA") return;
    event.preventDefault();
    press(field, valueOf(field), event.target);
  });
}

function keepWhereTyped(field) {
  const view = field.closest("[data-view]");
  if (view) keepTyped(view);
}

async function press(element, value, source) {
  if (element.getAttribute("aria-busy") === "true") return;
  // Busy from here on: a dialog is gone before its answer is told, and until then the press would look done.
  element.setAttribute("aria-busy", "true");
  if (!(await confirmed(element))) {
    element.removeAttribute("aria-busy");
    return;
  }
  openLink(element.dataset.url);
  element.closest(".overflow")?.removeAttribute("open");
  tell("");
  cameFrom(source);
  const view = element.closest("[data-view]");
  if (view) await keepTyped(view);
  const answer = await inOrder(() => act("/sandbox/click", { ...placeOf(element), value }));
  element.removeAttribute("aria-busy");
  if (answer?.error) tell(answer.error);
  await refresh();
  if (view && element.matches("button")) document.querySelector("#modal .view-blocks")?.scrollTo(0, 0);
}

function placeOf(element) {
  const { block, action } = element.dataset;
  const pressed = { user: me(), action_id: action, block_id: block };
  const message = element.closest(".message");
  const view = element.closest("[data-view]");
  return view ? { ...pressed, view_id: view.dataset.view } : { ...pressed, channel: channel(), ts: message.dataset.ts };
}

function openLink(url) {
  if (url && /^https?:\/\//i.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}

function confirmed(element) {
  const asked = element.closest(".press, [data-field]")?.querySelector(".confirm");
  return asked ? ask(asked) : Promise.resolve(true);
}

function ask(asked) {
  const dialog = document.getElementById("confirm");
  const title = Object.assign(document.createElement("h2"), { id: "confirm-title" });
  title.append(...copies(asked.querySelector("h2")));
  const text = Object.assign(document.createElement("p"), { className: "line" });
  text.append(...copies(asked.querySelector("p")));
  const footer = document.createElement("footer");
  const no = buttonFor(dialog, asked.querySelector(".no").textContent, "no", "");
  footer.append(no, buttonFor(dialog, asked.querySelector(".yes").textContent, "yes", asked.dataset.style));
  dialog.replaceChildren(title, text, footer);
  dialog.returnValue = "no";
  dialog.showModal();
  no.focus();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true });
  });
}

function copies(element) {
  return [...element.cloneNode(true).childNodes];
}

function buttonFor(dialog, label, answer, style) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: `button ${style}` });
  button.textContent = label;
  button.addEventListener("click", () => dialog.close(answer));
  return button;
}
