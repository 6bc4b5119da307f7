// The labels over the tray's picture (pure): which dice count, and where their labels lie.
export const READ = new Set(["ok", "uncertain", "cocked", "extra", "missing"]); // statuses whose dice were read
const DISTANCES = [0, 0.6, 1.3, 2.2, 3.3]; // gaps between die and label, in letter heights
const DIRECTIONS = 16;
const SIZE = 0.068; // letter height as a share of the picture's height
const WORD = 0.72; // size of the colour's name as a share of the value's
const LETTER = 0.6; // width of a letter as a share of its height

/**
 * Return the dice to label: before a roll is confirmed those read, afterwards those of the roll that
 * counts. A typed roll has no dice in the picture, nor has one whose dice were moved.
 */
export function countedDice({ status, dice }, game) {
  if (!game || game.over || game.action === 0) return dice;
  if (game.typed) return [];
  const lying = dice.filter((die) => die.in_tray);
  const counted = lying.map((die) => ({ ...die, value: valueIn(game.roll, die, lying) }));
  if (counted.length !== 2 + Object.keys(game.roll.colour).length) return [];
  if (counted.some((die) => die.value === null)) return [];
  const isSame = counted.every((die, i) => die.value === lying[i].value);
  if (status !== "old" && !isSame) return [];
  return counted.map((die, i) =>
    die.value === lying[i].value ? lying[i] : { ...die, by_hand: true, doubtful: false },
  );
}

/** Return the value of a die in the roll; of two white dice the one that was read right keeps its value. */
function valueIn(roll, die, lying) {
  if (die.colour !== "white") return roll.colour[die.colour] ?? null;
  const whites = lying.filter((each) => each.colour === "white");
  if (whites.length !== 2) return null;
  const [low, high] = roll.white;
  const [first, second] = whites;
  const kept = (a, b) => Number(a === first.value) + Number(b === second.value);
  const [a, b] = kept(low, high) >= kept(high, low) ? [low, high] : [high, low];
  return die === first ? a : b;
}

/**
 * Place a label beside each die: inside the picture, on no other label and on no die if possible.
 * @param words the name of each die's colour
 * @returns for each die the label's centre `x`, `y` and its letter height `size`
 */
export function placeLabels(dice, [width, height], words) {
  const size = SIZE * height;
  const boxes = dice.map(({ corners }) => boxAround(corners));
  const placed = [];
  dice.forEach((die, n) => {
    const labelWidth = size * LETTER * (1.6 + WORD * words[n].length);
    const candidates = spotsBeside(die, dice, size, labelWidth, width, height);
    const costs = candidates.map((spot) => costOf(spot, placed, boxes));
    placed.push(candidates[costs.indexOf(Math.min(...costs))]);
  });
  return placed.map(({ x, y }) => ({ x, y, size }));
}

function spotsBeside(die, dice, size, labelWidth, width, height) {
  const [cx, cy] = die.centre;
  const reach = Math.max(...die.corners.map(([x, y]) => Math.hypot(x - cx, y - cy)));
  const start = wayOut(die, dice);
  const [halfWidth, halfHeight] = [labelWidth / 2, size * 0.6];
  return DISTANCES.flatMap((gap) =>
    Array.from({ length: DIRECTIONS }, (_, i) => {
      const turn = (i % 2 ? 1 : -1) * Math.ceil(i / 2) * ((2 * Math.PI) / DIRECTIONS);
      const [dx, dy] = [Math.cos(start + turn), Math.sin(start + turn)];
      const far = reach + size * gap;
      const x = cx + dx * (far + halfWidth);
      const y = cy + dy * (far + halfHeight);
      return {
        x: Math.min(Math.max(x, halfWidth), width - halfWidth),
        y: Math.min(Math.max(y, halfHeight), height - halfHeight),
        halfWidth,
        halfHeight,
      };
    }),
  );
}

/** Return the angle away from the other dice, weighted by nearness; upwards for a single die. */
function wayOut(die, dice) {
  let [dx, dy] = [0, -1e-4];
  for (const other of dice) {
    if (other === die) continue;
    const [ox, oy] = [die.centre[0] - other.centre[0], die.centre[1] - other.centre[1]];
    const far = Math.hypot(ox, oy) || 1;
    dx += ox / far ** 3;
    dy += oy / far ** 3;
  }
  return Math.atan2(dy, dx);
}

/** Return the overlap of a label with other labels, which counts most, and with dice. */
function costOf(spot, placed, boxes) {
  const onLabels = placed.reduce((sum, other) => sum + overlap(spot, other), 0);
  const onDice = boxes.reduce((sum, box) => sum + overlap(spot, box), 0);
  return 1e6 * onLabels + onDice;
}

function boxAround(corners) {
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    halfWidth: (right - left) / 2,
    halfHeight: (bottom - top) / 2,
  };
}

/** Return the area that two boxes share. */
function overlap(a, b) {
  const across = a.halfWidth + b.halfWidth - Math.abs(a.x - b.x);
  const down = a.halfHeight + b.halfHeight - Math.abs(a.y - b.y);
  return across > 0 && down > 0 ? across * down : 0;
}
