// A small sheet to look at: the table view's and the games page's.
import { lockIcon, sign } from "./dice.js";
import { el } from "./dom.js";
import { playerMark } from "./player-mark.js";
import { capital, listOf, t } from "./words.js";

/** Return a player's sheet in the running game as the games page's data have it. */
export function sheetOf(game, player) {
  return {
    name: player.name,
    seat: player.seat,
    misses: player.misses,
    total: player.points.total,
    rows: game.rows.map((row) => {
      const crossed = new Set(player.sheet[row.key]);
      return {
        key: row.key,
        name: row.name,
        colour: row.lock,
        beside: row.beside,
        numbers: row.boxes.map((box) => box.number),
        crossed: row.boxes.filter((box) => crossed.has(box.token)).map((box) => box.number),
        lock: player.locks.includes(row.key),
        points: player.points.rows[row.lock] ?? null,
      };
    }),
  };
}

/**
 * Draw a sheet with a caption.
 * @param aside stands at the caption's end
 * @param fresh tokens of boxes that stand out
 */
export function miniSheet(sheet, aside, fresh = new Set()) {
  return el(
    "figure",
    { class: "mini-sheet" },
    el(
      "figcaption",
      {},
      el("span", { class: "who" }, playerMark(sheet.seat), el("bdi", { text: sheet.name })),
      el("span", { class: "note", text: aside }),
    ),
    ...sheet.rows.map((row) => rowOf(sheet, row, fresh)),
  );
}

function rowOf(sheet, row, fresh) {
  const crossed = new Set(row.crossed);
  const boxes = row.numbers.map((value) =>
    el(
      "span",
      {
        class: fresh.has(`${row.key}${value}`) ? "box is-fresh" : "box",
        "data-is": crossed.has(value) ? "crossed" : "open",
      },
      el("span", { class: "number", text: String(value) }),
    ),
  );
  const kind = row.colour ? `is-${row.colour}` : "is-bonus";
  const node = el(
    "div",
    { class: `row ${kind}`, role: "img", "aria-label": labelOf(row) },
    el("div", { class: "head" }, sign({ ...row, lock: row.colour }, sheet.rows)),
    ...boxes,
    el("div", { class: "foot" }, row.lock ? lockIcon() : ""),
  );
  row.beside.forEach((key, i) => {
    const colour = sheet.rows.find((each) => each.key === key)?.colour;
    node.style.setProperty(i ? "--to" : "--from", `var(--${colour})`);
  });
  return node;
}

function labelOf(row) {
  const numbers = listOf(row.crossed.map(String));
  const name = capital(row.name);
  const parts = [
    row.crossed.length ? t("games.crossed", { row: name, numbers }) : t("games.crossed_none", { row: name }),
  ];
  if (row.lock) parts.push(t("sheet.lock_crossed"));
  if (row.points !== null) parts.push(t("sheet.points", { count: row.points }));
  return parts.join(", ");
}
