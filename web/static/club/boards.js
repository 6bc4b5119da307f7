// Live boards of the tables: who plays, the roll, closed rows and totals.
import { lockIcon, rollOf } from "../lib/dice.js";
import { el, redraw, setAttribute } from "../lib/dom.js";
import { playerMark } from "../lib/player-mark.js";
import { SEATS } from "../lib/seats.js";
import { capital, listOf, numeral, t } from "../lib/words.js";

/** Draw a table in a list item. */
export function drawBoard(item, table) {
  setAttribute(item, "class", table.online ? "board" : "board is-offline");
  redraw(item, table, () => partsOf(table));
}

function partsOf(table) {
  const { game } = table;
  return [
    el(
      "header",
      {},
      el("h3", {}, el("bdi", { text: table.name })),
      el("p", { class: "note", text: stateOf(table) }),
      table.url ? tableLink(table) : null,
    ),
    game === null ? seatsOf(table) : diceOf(game),
    game?.players.some((player) => !player.name) ? el("p", { class: "note", text: t("club.nameless") }) : null,
    game === null ? null : el("ol", { class: "board-players" }, ...game.players.map((each) => playerLine(game, each))),
  ];
}

function stateOf(table) {
  const isPlaying = table.game !== null && table.game.phase !== "over";
  if (!table.online) return t(isPlaying ? "club.offline" : "club.away");
  if (table.game === null) return t("club.idle");
  if (!isPlaying) return t("over.title");
  return t("table.turn", { turn: table.game.turn });
}

/** The table's address as a code for phones' cameras, and as a link for those who look on a phone. */
const tableLink = (table) =>
  el(
    "a",
    { class: "board-link", href: table.url, "aria-label": t("club.open", { name: table.name }) },
    el("img", { src: `/tables/${table.id}.svg?for=${encodeURIComponent(table.url)}`, alt: "", loading: "lazy" }),
    el("span", { "aria-hidden": "true", text: "↗" }),
  );

const seatsOf = (table) =>
  table.seats.length ? el("p", {}, el("bdi", { text: listOf(table.seats.map((n) => n || "?")) })) : null;

function diceOf(game) {
  const locks = game.closed.map((colour) => {
    const label = t("table.row_closed", { row: capital(t(`row.${colour}`)) });
    return el("span", { class: `lock is-${colour}`, role: "img", "aria-label": label }, lockIcon());
  });
  return el("div", { class: "dice" }, ...(game.phase === "over" ? [] : rollOf(game)), ...locks);
}

function playerLine(game, player) {
  const isActive = game.phase !== "over" && player.seat === game.active;
  const is = [isActive ? "is-active" : "", player.leads ? "is-first" : "", player.gone ? "is-gone" : ""];
  const name = player.name || t("club.seat", { number: (player.seat % SEATS) + 1 }); // also of who has left it
  return el(
    "li",
    { class: is.filter(Boolean).join(" ") },
    playerMark(player.seat),
    el(
      "span",
      { class: "who" },
      el("bdi", { text: name }),
      isActive ? el("span", { class: "sr", text: t("club.active") }) : null,
      player.misses ? el("span", { class: "note", text: ` ${t("games.misses", { count: player.misses })}` }) : null,
    ),
    el("b", { class: "points", text: numeral(player.total) }),
  );
}
