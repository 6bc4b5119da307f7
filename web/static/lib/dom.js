// Helpers for building and updating elements. Text is only ever set as text, never as HTML.
const SVG = "http://www.w3.org/2000/svg";
export const GUARD_MS = 350; // longest gap between the two halves of a double tap
const REST_MS = 500; // longest time from deciding to tap to the tap

export const $ = (id) => document.getElementById(id);

/** Create an element with attributes and children, null for none; `text` sets its text. */
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
  append(node, children);
  return node;
}

const append = (node, children) => node.append(...children.filter((child) => child !== null));

/** Set text only if it differs: screen readers announce every write to a live region. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Tell what became of a press; the same text once more is read out once more. */
export function setTextAnew(node, text) {
  node.textContent = text;
}

export function show(node, is) {
  // SVG elements have no `hidden` property
  if (node.hasAttribute("hidden") === is) node.toggleAttribute("hidden", !is);
}

export function setAttribute(node, name, value) {
  if (value === null || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Load a picture that is ready to be shown at once; null if that fails. */
export function loaded(source) {
  const picture = new Image();
  picture.src = source;
  return picture.decode().then(
    () => picture,
    () => null,
  );
}

/** Replace all children, null for none; `replaceChildren` is missing in televisions of 2022. */
export function refill(node, children) {
  node.textContent = "";
  append(node, children);
}

/** Replace children only if their data changed; keep the focus. */
export function redraw(node, signature, make) {
  const text = JSON.stringify(signature);
  if (node.dataset.shows === text) return;
  node.dataset.shows = text;
  const held = focusIn(node);
  refill(node, make());
  held?.();
}

const CAN_HOLD_FOCUS = "a[href], button, input, select, summary";
const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

const holders = (node) => [...node.querySelectorAll(CAN_HOLD_FOCUS)];

/** Return a function that restores the focus after a redraw, or null if nothing had it.
 * If the list entry has fewer buttons now, the entry itself is focused: its other buttons do something else.
 * If nothing is left that could have the focus, the heading has it. */
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
    const next = same ?? (isEntry ? entry : all[Math.min(at, all.length - 1)]);
    focusOn(next ?? headingOf(node) ?? node.closest("main"));
  };
}

/** Focus an element, even one outside the tab order such as a heading. */
export function focusOn(node) {
  if (node && node.tabIndex < 0) node.tabIndex = -1;
  node?.focus({ preventScroll: true });
}

const isSeen = (node) =>
  node !== document.body && node.getClientRects().length > 0 && getComputedStyle(node).visibility === "visible";

/** Return the heading of the card around an element, or the one that its bar names. */
function headingOf(node) {
  const bar = node?.closest("[data-heading]");
  return bar ? $(bar.dataset.heading) : node?.closest(".card")?.querySelector("h2, summary");
}

/** Return a function that focuses the nearest heading if the focused element has gone. */
export function keepFocus() {
  const focused = document.activeElement;
  const heading = focused?.closest("dialog") ? null : headingOf(focused); // a closing dialog leads back itself
  return () => {
    if (!heading || isSeen(focused) || isSeen(document.activeElement)) return;
    focusOn(isSeen(heading) ? heading : document.querySelector("[role=tab][aria-selected=true]"));
  };
}

/** Switch a button off, or on again: `disabled` would lose the focus. */
export const setOff = (button, isOff) => setAttribute(button, "aria-disabled", isOff ? "true" : null);

export const isOff = (button) => button.getAttribute("aria-disabled") === "true";

// a key held down for long means one press: the repeats would take back what it did, or answer what it asked
addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.closest("button, input")) event.preventDefault();
});

/** Handle clicks on a button that is not off, ignoring further clicks until the action is done. */
export function onPress(button, act) {
  button.addEventListener("click", async () => {
    if (isOff(button) || button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    try {
      await act();
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
}

/** Create a button that acts on a press. */
export function pressButton(attributes, act) {
  const button = el("button", { type: "button", ...attributes });
  onPress(button, act);
  return button;
}

/** Disable a button that has just appeared under the finger for the length of a double tap. */
export function disableBriefly(button) {
  button.disabled = true;
  setTimeout(() => button.removeAttribute("disabled"), GUARD_MS);
}

/** The same, but the focus stays. */
export function offBriefly(button) {
  setOff(button, true);
  setTimeout(setOff, GUARD_MS, button, false);
}

const resting = new WeakMap(); // node -> the timer that ends its rest

/** Let something that has just changed take no tap for a moment: one on its way was meant for what was there. */
export function restBriefly(node) {
  clearTimeout(resting.get(node));
  node.style.pointerEvents = "none";
  resting.set(node, setTimeout(() => node.style.removeProperty("pointer-events"), REST_MS));
}

/** Handle a form's submission, ignoring further ones until the action is done. */
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

export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12)); // randomUUID needs https
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
