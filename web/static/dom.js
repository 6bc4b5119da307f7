// Small tools to build elements; text is only ever set as text.
const SVG = "http://www.w3.org/2000/svg";
export const GUARD_MS = 350; // within which the second half of a double tap comes

export const $ = (id) => document.getElementById(id);

/** An element with attributes and children; `class` and `text` are short forms. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Set text only when it changes: live regions speak on every write. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function show(node, is) {
  if (node.hasAttribute("hidden") === is) node.toggleAttribute("hidden", !is); // SVG has no .hidden
}

export function attribute(node, name, value) {
  if (value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Replace children only when what they show differs. */
export function redraw(node, signature, make) {
  const text = JSON.stringify(signature);
  if (node.dataset.shows === text) return;
  node.dataset.shows = text;
  const held = focusIn(node);
  node.replaceChildren(...make());
  held?.();
}

const CAN_HOLD_FOCUS = "a[href], button, input, select, summary";
const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

const holders = (node) => [...node.querySelectorAll(CAN_HOLD_FOCUS)];

/** What gives the focus back to what had it, or to what stands in its place; null where nothing had.
 * In a list whose entry has fewer buttons now, to the entry: the one beside does something else. */
function focusIn(node) {
  const focused = document.activeElement;
  if (focused === node || !node.contains(focused)) return null;
  const [at, name] = [holders(node).indexOf(focused), nameOf(focused)];
  const line = [...node.children].findIndex((each) => each.contains(focused));
  const before = holders(node.children[line]).length;
  return () => {
    const all = holders(node);
    const entry = node.children[Math.min(line, node.children.length - 1)];
    const isEntry = entry?.localName === "li" && (at < 0 || holders(entry).length < before);
    const same = all.find((each) => nameOf(each) === name);
    leadTo(same ?? (isEntry ? entry : all[Math.min(at, all.length - 1)]));
  };
}

/** Focus what is given, also where no key would reach it: a heading, an entry of a list. */
export function leadTo(node) {
  if (node && node.tabIndex < 0) node.tabIndex = -1;
  node?.focus({ preventScroll: true });
}

const isSeen = (node) => node !== document.body && node.getClientRects().length > 0;
const headingOf = (node) => node?.closest(".card")?.querySelector("h2, summary");

/** What leads on to the heading above what has the focus now, once that is gone. */
export function keepPlace() {
  const focused = document.activeElement;
  const heading = headingOf(focused);
  return () => {
    if (heading && !isSeen(focused) && !isSeen(document.activeElement)) leadTo(heading);
  };
}

/** A button that cannot be set off twice by one nervous finger. */
export function onPress(button, act) {
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    try {
      await act();
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
}

/** Keep a button that has just come under the finger from the second half of a double tap. */
export function holdBack(button) {
  button.disabled = true;
  setTimeout(() => {
    button.disabled = false;
  }, GUARD_MS);
}

/** A form that cannot be sent twice by one nervous finger. */
export function onSubmit(form, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    try {
      await act(event);
    } finally {
      form.removeAttribute("aria-busy");
    }
  });
}

export function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(12)); // randomUUID needs https
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
