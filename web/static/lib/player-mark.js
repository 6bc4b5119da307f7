// A player's own mark: a colour and a shape that no row has, the same on every page.
import { svg } from "./dom.js";

const SHAPES = [
  "M12 1.8l3 6.6 7.2.8-5.4 4.8 1.5 7.1L12 17.5 5.7 21.1l1.5-7.1L1.8 9.2 9 8.4z", // star
  "M12 22C4 16 1.6 12 1.6 8.2a5.4 5.4 0 0 1 10.4-2.4 5.4 5.4 0 0 1 10.4 2.4C22.4 12 20 16 12 22z", // heart
  "M14.5 1.8a10.3 10.3 0 1 0 7.6 15.6A9.6 9.6 0 0 1 14.5 1.8z", // moon
  "M12 1.2c4.4 5.4 7.2 9 7.2 13.1a7.2 7.2 0 0 1-14.4 0C4.8 10.2 7.6 6.6 12 1.2z", // drop
  "M8.4 1.8h7.2v6.6h6.6v7.2h-6.6v6.6H8.4v-6.6H1.8V8.4h6.6z", // plus
];

/** Draw the mark of a seat; seats of players who left have none. */
export function playerMark(seat) {
  const path = SHAPES[seat];
  if (!path) return null;
  const mark = svg("svg", {
    viewBox: "0 0 24 24",
    class: `player-mark is-seat-${seat}`,
    "aria-hidden": "true",
  });
  mark.append(svg("path", { d: path, "stroke-linejoin": "round" }));
  return mark;
}
