// The club's screen: live boards, the round and the standings; on a phone one below the other.
import { timeForm } from "../lib/dates.js";
import { offerDevice } from "../lib/device.js";
import { $, el, redraw, setAttribute, setText, show } from "../lib/dom.js";
import { offerFullScreen } from "../lib/fullscreen.js";
import { onState, start } from "../lib/live.js";
import { language, numeral, ratingText, t } from "../lib/words.js";
import { drawBoard } from "./boards.js";
import { dateOf, drawRound, playerItem } from "./round.js";

const TURN_MS = 12_000; // a screen with more than fits shows the next part
const MOST_BOARDS = 9; // on a screen at once
const MOST_LARGE = 6; // more are drawn smaller
const SCREEN = matchMedia("(min-width: 1200px) and (min-height: 640px)");

let state = null;
let first = 0; // the first board that is shown
const decimal = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function draw(next) {
  state = next;
  setText($("date"), dateOf(state.evening));
  setAttribute($("join"), "src", `/join.svg?for=${encodeURIComponent(state.join_url)}`);
  show($("broker"), !state.broker);
  drawRound(state);
  drawStandings();
  drawBoards();
  drawGames();
}

function drawBoards() {
  const { tables } = state;
  const most = SCREEN.matches ? MOST_BOARDS : tables.length;
  if (first >= tables.length) first = 0;
  const seen = tables.slice(first, first + most);
  show($("no-tables"), tables.length === 0);
  const isPart = seen.length < tables.length;
  setText(
    $("tables-page"),
    isPart ? t("club.part", { from: first + 1, to: first + seen.length, count: tables.length }) : "",
  );
  const columns = SCREEN.matches ? Math.ceil(Math.sqrt(isPart ? MOST_BOARDS : tables.length)) : 1;
  $("tables").classList.toggle("is-dense", tables.length > MOST_LARGE);
  $("tables").style.setProperty("--columns", Math.max(columns, 1));
  $("tables").style.setProperty("--lines", Math.ceil(seen.length / Math.max(columns, 1)));
  const items = [...$("tables").children];
  for (const item of items.slice(seen.length)) item.remove();
  for (const [n, table] of seen.entries()) {
    const item = items[n] ?? $("tables").appendChild(el("li"));
    drawBoard(item, table);
  }
}

function drawStandings() {
  const { standings } = state;
  show(document.querySelector(".club-standings"), standings.length > 0);
  redraw($("standings"), standings, () => [
    el(
      "table",
      { class: "ranking" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, el("span", { class: "sr", text: t("club.rank") })),
          ...["player", "points", "wins", "games", "opponents", "margin"].map((key) =>
            el("th", { scope: "col", class: `is-${key}`, text: t(`club.column.${key}`) }),
          ),
          el("th", { scope: "col", class: "is-rating", text: t("games.column.rating") }),
        ),
      ),
      el("tbody", {}, ...standings.map(standingLine)),
    ),
  ]);
}

function standingLine(place) {
  const cells = [
    ["points", numeral(place.points)],
    ["wins", numeral(place.wins)],
    ["games", numeral(place.games)],
    ["opponents", decimal.format(place.opponents)],
    ["margin", numeral(Math.round(place.margin))],
    ["rating", ratingText(place.rating)],
  ];
  return el(
    "tr",
    { class: place.rank === 1 && place.points > 0 ? "is-first" : null },
    el("td", { class: "rank", text: t("over.rank", { rank: place.rank }) }),
    el("th", { scope: "row" }, el("bdi", { text: place.name })),
    ...cells.map(([key, text]) => el("td", { class: `is-${key}`, text })),
  );
}

function drawGames() {
  show(document.querySelector(".club-games"), state.games.length > 0);
  redraw($("games"), state.games, () =>
    state.games.map((game) => {
      const most = game.counts ? game.players[0].total : null;
      const parts = [
        Number.isNaN(Date.parse(game.ended)) ? "" : timeForm.format(new Date(game.ended)),
        game.round === null ? "" : t("club.round", { number: game.round }),
        game.counts ? "" : t(game.early ? "games.end.ended_early" : "club.uncounted"),
      ];
      return el(
        "li",
        {},
        el("b", {}, el("bdi", { text: game.table_name })),
        el("span", { class: "note", text: parts.filter(Boolean).join(" · ") }),
        el("ul", { class: "scores" }, ...game.players.map((player) => playerItem(player, player.total === most))),
      );
    }),
  );
}

/** Show the next boards and the next part of the standings. */
function turn() {
  if (!SCREEN.matches || state === null) return;
  first += MOST_BOARDS;
  drawBoards();
  for (const node of [$("standings"), $("groups")]) {
    const isEnd = node.scrollTop + node.clientHeight >= node.scrollHeight - 2;
    node.scrollTo({ top: isEnd ? 0 : node.scrollTop + node.clientHeight * 0.9 });
  }
}

offerDevice();
offerFullScreen();
onState(draw);
SCREEN.addEventListener("change", () => state && drawBoards());
setInterval(turn, TURN_MS);
start();
