// The fields of a modal, a Home tab or a message: reading them, and sending what an app wants to hear while they change.

import { act, inOrder, me } from "./control.js";

export function valueOf(field) {
  const kind = field.dataset.kind;
  if (kind === "radio_buttons") return field.querySelector("input:checked")?.value ?? null;
  if (kind === "checkboxes") return [...field.querySelectorAll("input:checked")].map((box) => box.value);
  const value = field.querySelector("input, select, textarea").value;
  if (kind === "datetimepicker") return value === "" ? null : String(Math.floor(new Date(value).getTime() / 1000));
  return value;
}

function typedIn(view) {
  const values = {};
  for (const field of view.querySelectorAll("[data-field]")) {
    const { block, action } = field.dataset;
    values[block] = { ...values[block], [action]: valueOf(field) };
  }
  return values;
}

// Leave the form's state with the workspace; resolves once it is there.
export function keepTyped(view) {
  const body = { user: me(), view_id: view.dataset.view, values: typedIn(view) };
  if (Object.keys(body.values).length === 0) return Promise.resolve();
  return inOrder(() => act("/page/typed", body));
}

// A moment shown in the reader's zone: the server knows only its Unix time.
export function fillMoments(root) {
  for (const input of root.querySelectorAll("input[data-unix-value]")) {
    const unix = Number(input.dataset.unixValue);
    if (!unix || input.value) continue;
    const local = new Date(unix * 1000 - new Date(unix * 1000).getTimezoneOffset() * 60000);
    input.value = local.toISOString().slice(0, 16);
  }
}
