// A player's misses as boxes, the taken ones crossed.
import { el } from "./dom.js";
import { t } from "./words.js";

/** Draw the boxes alone. */
export const missBoxes = ({ misses, misses_most: most }) =>
  Array.from({ length: most }, (_, i) => el("span", { class: i < misses ? "miss is-taken" : "miss" }));

/** Say how many misses a player has and what they cost. */
export const missesText = ({ misses, misses_most: most, points }) =>
  t("game.misses", { count: misses, most, minus: points.minus });

/** Draw a player's misses with their label. */
export const drawnMisses = (player) =>
  el("span", { class: "misses", role: "img", "aria-label": missesText(player) }, ...missBoxes(player));
