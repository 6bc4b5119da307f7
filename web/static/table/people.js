// Rows and players at the foot of the table view.
import { lockIcon, sign } from "../lib/dice.js";
import { $, el, redraw, show } from "../lib/dom.js";
import { drawnMisses } from "../lib/misses.js";
import { playerMark } from "../lib/player-mark.js";
import { SEATS } from "../lib/seats.js";
import { capital, listOf, numeral, t } from "../lib/words.js";
import { addressOf, codes } from "./door.js";

export function drawRows(game, nameOf) {
  const closedAs = (row) => game.closed.find((each) => each.row === row.key);
  // at the end only closed rows
  const rows = (game?.rows ?? []).filter((row) => row.lock && (!game.over || closedAs(row)));
  show($("rows"), rows.length > 0);
  redraw($("rows"), [rows.map((row) => row.key), game?.closed], () =>
    rows.map((row) => {
      const closed = closedAs(row);
      const words = t(closed ? "table.row_closed" : "table.row_open", { row: capital(row.name) });
      const by = closed ? t("table.closed_by", { names: listOf(closed.by.map(nameOf)) }) : t("table.die_in");
      const text = el("span", {}, el("span", { text: words }), el("span", { class: "by", text: by }));
      return el(
        "li",
        { class: `is-${row.lock}${closed ? " is-closed" : ""}` },
        sign(row),
        text,
        closed ? lockIcon() : null,
      );
    }),
  );
}

export function drawPeople(state) {
  const { game, seats, table, me } = state;
  const people = game?.players ?? seats;
  const { door } = me;
  const isFree = game !== null && !game.over && door !== null && seats.length < SEATS;
  const shownDoor = isFree && [door, addressOf(table)];
  $("people").style.setProperty("--cards", people.length + Number(isFree));
  const data = [people, game?.waiting_for, game?.active, game?.phase, seats, shownDoor];
  redraw($("people"), data, () => [
    ...people.map((player) => person(game, player)),
    ...(isFree ? [freeSeat(game, door, addressOf(table))] : []),
  ]);
}

function person(game, player) {
  const isActive = game !== null && game.active === player.seat && !game.over;
  const mark = game?.waiting_for.includes(player.seat) ? "○ " : player.answer ? "✓ " : "";
  return el(
    "li",
    { class: player.gone ? "is-gone" : isActive ? "is-active" : "" },
    el("span", { class: "who" }, playerMark(player.seat), name(player)),
    game ? el("span", { class: "points" }, el("span", { text: numeral(player.points.total) })) : null,
    el("span", { class: "state" }, el("span", { "aria-hidden": "true", text: mark }), wordOf(game, player)),
    player.chance ? chance(player.chance) : null,
    game ? drawnMisses(player) : null,
  );
}

/** Draw a chance to win as a bar with its number; the lighter end is as wide as the chance is uncertain. */
function chance({ percent, within }) {
  const made = el("span", { class: "chance" }, el("span", { text: t("table.chance", { percent, within }) }));
  made.style.setProperty("--low", `${Math.max(0, percent - within)}%`);
  made.style.setProperty("--high", `${Math.min(100, percent + within)}%`);
  return made;
}

/** Draw a name in letters so large that its longest part fits; it may break at a hyphen, too. */
function name(player) {
  const made = el("bdi", { text: player.name });
  const parts = player.name.replace(/-/g, "- ").split(/\s+/);
  made.style.setProperty("--letters", Math.max(...parts.map((part) => part.length)));
  return made;
}

function wordOf(game, player) {
  if (!game || game.over) return "";
  if (player.gone) return t("gone");
  if (game.waiting_for.includes(player.seat)) return t("table.to_answer");
  if (player.answer) return t("table.answered");
  return game.active === player.seat && game.phase === "roll" ? t("players.throws") : "";
}

/** Draw a free seat with the code for latecomers, who play at once before the first roll. */
function freeSeat(game, door, url) {
  const isLate = game.turn > 1 || game.phase !== "roll";
  return el(
    "li",
    { class: "is-free" },
    el("div", { class: "codes" }, ...codes(door, url)),
    el("span", {}, t(isLate ? "table.next_game" : "table.free_seat"), el("b", { text: door.code })),
  );
}
