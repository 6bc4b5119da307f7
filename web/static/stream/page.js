// The game for a stream: panels on a transparent page that a capture program lays over its picture.
import { lockIcon, rollOf } from "../lib/dice.js";
import { $, el, redraw, show } from "../lib/dom.js";
import { onState, start } from "../lib/live.js";
import { playerMark } from "../lib/player-mark.js";
import { capital, numeral, t } from "../lib/words.js";

const PARTS = ["roll", "news", "rows", "players"];
const SIZES = { width: [120, 7680], text: [8, 200] }; // smallest and largest, in pixels

const query = new URLSearchParams(location.search);
const parts = new Set((query.get("show") ?? PARTS.join()).split(",").filter((part) => PARTS.includes(part)));

/** Set a size that the address names, within its bounds. */
function setSize(name) {
  const [least, most] = SIZES[name];
  const asked = Number.parseInt(query.get(name), 10);
  if (Number.isNaN(asked)) return;
  const size = Math.min(Math.max(asked, least), most);
  document.documentElement.style.setProperty(`--${name}`, `${size}px`);
}

/** Show a part if the address asks for it and there is something in it. */
function draw(part, data, make) {
  const isSeen = parts.has(part) && data !== null;
  show($(part), isSeen);
  if (isSeen) redraw($(part), data, make);
}

function drawAll({ game, announcement }) {
  const isOn = game !== null && !game.over;
  draw("roll", isOn ? [game.roll, game.dice, game.sums] : null, () => [
    el("div", { class: "dice" }, ...rollOf(game)),
    game.roll === null
      ? null
      : el(
          "b",
          { class: "sum", role: "img", "aria-label": t("stream.sum", { sum: game.sums.white }) },
          `= ${game.sums.white}`,
        ),
  ]);
  draw("news", announcement ? [announcement.headline, announcement.text] : null, () => [
    announcement.text || announcement.headline,
  ]);
  const closed = game?.closed ?? [];
  draw("rows", closed.length ? closed : null, () => closed.map((row) => rowItem(game, row)));
  const of = game && [game.players, game.over ? null : game.active, game.action, game.waiting_for, game.winners];
  draw("players", of, () => game.players.map((player) => playerItem(game, player)));
}

function rowItem(game, { row: key }) {
  const row = game.rows.find((each) => each.key === key);
  return el(
    "li",
    { class: `is-${row.lock}` },
    lockIcon(),
    el("span", { text: t("table.row_closed", { row: capital(row.name) }) }),
  );
}

function playerItem(game, player) {
  const isActive = !game.over && player.seat === game.active;
  const is = [
    isActive ? "is-active" : "",
    player.gone ? "is-gone" : "",
    game.winners.includes(player.seat) ? "is-first" : "",
  ];
  const hasAnswered = game.action > 0 && !game.waiting_for.includes(player.seat);
  return el(
    "li",
    { class: is.filter(Boolean).join(" ") },
    playerMark(player.seat),
    el("bdi", { text: player.name }),
    hasAnswered && !player.gone && !game.over
      ? el("span", { role: "img", "aria-label": t("table.answered"), text: "✓" })
      : null,
    el("b", { class: "points", text: numeral(player.points.total) }),
  );
}

for (const name of Object.keys(SIZES)) setSize(name);
onState(drawAll);
start();
