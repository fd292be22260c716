// The line at the bottom, for slash commands, and the menu that a phone folds the side bar into.

import { act, channel, me, tell } from "./control.js";
import { refresh } from "./live.js";
import { cameFrom } from "./modal.js";

export function listen() {
  document.getElementById("composer")?.addEventListener("submit", (event) => {
    event.preventDefault();
    send(document.getElementById("command"));
  });
  const menu = document.getElementById("menu");
  menu.addEventListener("click", () => {
    menu.setAttribute("aria-expanded", String(menu.getAttribute("aria-expanded") !== "true"));
  });
}

async function send(input) {
  const typed = input.value.trim();
  if (!typed.startsWith("/")) {
    tell("In this workspace people only click and type commands. A command starts with a slash.");
    return;
  }
  tell("");
  cameFrom(input);
  const [command] = typed.split(/\s/, 1);
  const body = { user: me(), channel: channel(), command, text: typed.slice(command.length).trim() };
  const answer = await act("/sandbox/command", body);
  if (!answer) return;
  input.value = "";
  if (answer.error) tell(answer.error);
  await refresh();
}
