// The three parts of the host's page: Now, Players, Settings.
import { $, setAttribute, show } from "../lib/dom.js";

const PARTS = ["now", "players", "settings"];
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Show one part and hide the others. */
export function openPart(name) {
  for (const each of PARTS) {
    const is = each === name;
    show($(`part-${each}`), is);
    setAttribute($(`tab-${each}`), "aria-selected", String(is));
    setAttribute($(`tab-${each}`), "tabindex", is ? "0" : "-1");
  }
}

/** Let taps and arrow keys change the part. */
export function offerTabs() {
  for (const name of PARTS) $(`tab-${name}`).addEventListener("click", () => openPart(name));
  $("parts-tabs").addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const at = PARTS.findIndex((name) => event.target === $(`tab-${name}`));
    if (!step || at < 0) return;
    const name = PARTS[(at + step + PARTS.length) % PARTS.length];
    openPart(name);
    $(`tab-${name}`).focus();
  });
  openPart("now");
}
