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

/** What gives the focus back to what had it, or to what stands in its place; null where nothing had. */
function focusIn(node) {
  const focused = document.activeElement;
  if (focused === node || !node.contains(focused)) return null;
  const at = [...node.querySelectorAll(CAN_HOLD_FOCUS)].indexOf(focused);
  const name = nameOf(focused);
  return () => {
    const all = [...node.querySelectorAll(CAN_HOLD_FOCUS)];
    (all.find((each) => nameOf(each) === name) ?? all[Math.min(at, all.length - 1)])?.focus({ preventScroll: true });
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
