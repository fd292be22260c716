// The workspace's control endpoints, and telling the person what they answer.

export const me = () => document.body.dataset.user;
export const channel = () => document.body.dataset.channel;

let before = Promise.resolve();

// One after the other: what was typed must be there before it is submitted.
export function inOrder(work) {
  const done = before.then(work);
  before = done.catch(() => {});
  return done;
}

// Answers the endpoint's JSON, or null after telling the person why there is none.
export async function act(path, body) {
  let answer;
  try {
    const headers = { "content-type": "application/json" };
    answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    tell("The demo does not answer. Is it still running?");
    return null;
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  tell(told.error ?? `The workspace answered ${answer.status}.`);
  return null;
}

export function tell(text) {
  document.getElementById("told").textContent = text ?? "";
}
