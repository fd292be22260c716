// Make one element like another while keeping what a person has in hand: focus, typing, scroll, opened details.
//
// Elements are matched by data-key or id among their siblings, else by position and kind. Of an element with data-keep,
// which the page fills in itself, nothing is touched.

const OWN_ATTRIBUTES = new Set(["open", "aria-busy", "aria-expanded", "hidden"]);

export function morph(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE || old.hasAttribute("data-keep")) return;
  matchAttributes(old, fresh);
  matchChildren(old, fresh);
}

function matchAttributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (!OWN_ATTRIBUTES.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!OWN_ATTRIBUTES.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}

function matchChildren(old, fresh) {
  const keyed = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const found = keyOf(wanted) ? keyed.get(keyOf(wanted)) : sameKind(at, wanted) ? at : null;
    if (found && found.nodeName === wanted.nodeName) {
      if (found === at) at = at.nextSibling;
      else old.insertBefore(found, at);
      morph(found, wanted);
    } else {
      old.insertBefore(document.importNode(wanted, true), at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") || node.id : "";
}

function sameKind(old, wanted) {
  return old && old.nodeType === wanted.nodeType && old.nodeName === wanted.nodeName && !keyOf(old);
}
