// Dice and row signs as SVG. A row has a shape besides its colour, the same in every language.
import { el, svg } from "./dom.js";
import { dieName } from "./words.js";

const PIPS = {
  1: [[30, 30]],
  2: [
    [17, 17],
    [43, 43],
  ],
  3: [
    [16, 16],
    [30, 30],
    [44, 44],
  ],
  4: [
    [17, 17],
    [43, 17],
    [17, 43],
    [43, 43],
  ],
  5: [
    [16, 16],
    [44, 16],
    [30, 30],
    [16, 44],
    [44, 44],
  ],
  6: [
    [17, 15],
    [43, 15],
    [17, 30],
    [43, 30],
    [17, 45],
    [43, 45],
  ],
};

/** Draw a die; without a value, an empty outline. */
export function die(colour, value) {
  const label = value ? dieName({ colour, value }) : null;
  const face = svg(
    "svg",
    {
      viewBox: "0 0 60 60",
      class: `die is-${colour}${value ? "" : " is-empty"}`,
      ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }),
    },
    svg("rect", { x: 2, y: 2, width: 56, height: 56, rx: 13, class: "die-body" }),
  );
  for (const [cx, cy] of PIPS[value] ?? []) face.append(svg("circle", { cx, cy, r: 5.8 }));
  return face;
}

const SHAPES = {
  red: () => svg("circle", { cx: 20, cy: 20, r: 17 }),
  yellow: () => svg("path", { d: "M20 2 38 36H2Z", "stroke-linejoin": "round" }),
  green: () => svg("rect", { x: 4, y: 4, width: 32, height: 32, rx: 3 }),
  blue: () => svg("path", { d: "M20 1 39 20 20 39 1 20Z" }),
};

/**
 * Draw a row's sign: its shape. A bonus row has both neighbours' shapes on a pill.
 * @param rows the sheet's rows, to find a bonus row's neighbours
 */
export function sign(row, rows = []) {
  const picture = svg("svg", { viewBox: "0 0 40 40", class: "sign", "aria-hidden": "true" });
  if (row.lock) {
    picture.append(SHAPES[row.lock]());
    return picture;
  }
  picture.append(svg("rect", { x: 1, y: 9, width: 38, height: 22, rx: 11 }));
  row.beside.forEach((key, i) => {
    const neighbour = rows.find((each) => each.key === key);
    const colour = neighbour?.colour ?? neighbour?.lock;
    if (!colour) return;
    const at = `translate(${i ? 20.5 : 5.5} 13) scale(0.35)`;
    picture.append(svg("g", { class: `is-${colour}`, transform: at }, SHAPES[colour]()));
  });
  return picture;
}

export function lockIcon() {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: "lock-icon", "aria-hidden": "true" },
    svg("path", { d: "M7 10V7.5a5 5 0 0 1 10 0V10", fill: "none", "stroke-width": 2.6 }),
    svg("rect", { x: 4.5, y: 10, width: 15, height: 11, rx: 3 }),
  );
}

/**
 * Draw a roll in a fixed order, without removed dice.
 * @param roll null before it: the dice are outlines
 * @param dice the colours in play
 * @param place gives a die its place
 */
export function rollOf({ roll, dice }, place = inPlace) {
  const places = [
    ["white", roll?.white[0]],
    ["white", roll?.white[1]],
    ...dice.map((colour) => [colour, roll?.colour[colour]]),
  ];
  return places.map(([colour, value]) => place(colour, value));
}

const inPlace = (colour, value) => el("span", { class: `place is-${colour}` }, die(colour, value));
