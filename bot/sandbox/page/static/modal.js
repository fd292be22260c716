// The dialog in front of the person: opening and closing it with what the workspace shows, focus, submitting, closing.

import { act, inOrder, me, tell } from "./control.js";
import { keepTyped } from "./form.js";
import { refresh } from "./live.js";

const dialog = () => document.getElementById("modal");
const view = () => dialog().querySelector(".view");
let shown = "";
let opener = null;

export function listen() {
  dialog().addEventListener("cancel", (event) => {
    event.preventDefault();
    close(false);
  });
  dialog().addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) close(false);
    if (event.target.closest("[data-close-all]")) close(true);
  });
  dialog().addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  dialog().addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  });
}

// Where focus goes back to once the modals are gone: what was pressed last outside of them.
export function cameFrom(element) {
  if (!shown) opener = element;
}

// Called after every redraw.
export function settle() {
  const now = view()?.dataset.view ?? "";
  if (now === shown) return;
  shown = now;
  if (!now) {
    dialog().close();
    giveFocusBack();
    return;
  }
  if (!dialog().open) dialog().showModal();
  focusFirst();
}

function focusFirst() {
  const wanted = dialog().querySelector("[data-focus], .view-blocks [data-field] :is(input, select, textarea)");
  const checked = wanted?.type === "radio" && wanted.closest("[data-field]").querySelector("input:checked");
  (checked || wanted || document.getElementById("modal-title")).focus();
}

function giveFocusBack() {
  const message = opener?.closest?.(".message") ?? null;
  const target = opener?.isConnected ? opener : message?.isConnected ? message.querySelector("article") : null;
  (target ?? document.getElementById("main")).focus();
  opener = null;
}

async function submit() {
  const form = view();
  const button = form?.querySelector("[data-submit]");
  if (!button || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  tell("");
  const before = form.dataset.hash;
  await keepTyped(form);
  const answer = await inOrder(() => act("/sandbox/submit", { user: me(), values: {} }));
  button.removeAttribute("aria-busy");
  await refresh();
  if (!answer || view()?.dataset.view !== form.dataset.view) return;
  const wrong = dialog().querySelector('[aria-invalid="true"], .b-input.wrong input');
  if (wrong) wrong.focus();
  else if (view().dataset.hash !== before) turnToTop();
}

function turnToTop() {
  dialog().querySelector(".view-blocks").scrollTo(0, 0);
  document.getElementById("modal-title").focus();
}

async function close(all) {
  if (!view()) return;
  await inOrder(() => act("/sandbox/close", { user: me(), all }));
  await refresh();
}
