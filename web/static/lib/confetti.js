// Little dice that fall once over the winner's screen; they stay away for those who want less motion.
import { el } from "./dom.js";

const PIECES = 24;
const COLOURS = ["red", "yellow", "green", "blue"];

/** Draw the falling dice, as one element. */
export function confetti() {
  const pieces = Array.from({ length: PIECES }, (_, n) => {
    const piece = el("i", { class: `is-${COLOURS[n % COLOURS.length]}` });
    piece.style.setProperty("--x", `${(n * 37) % 100}%`);
    piece.style.setProperty("--delay", `${((n * 53) % 100) / 60}s`);
    piece.style.setProperty("--turn", `${((n * 71) % 360) - 180}deg`);
    return piece;
  });
  return el("div", { class: "confetti", "aria-hidden": "true" }, ...pieces);
}
