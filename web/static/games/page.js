// The games page: standings, all games, or one game in full.
import { sign } from "../lib/dice.js";
import { dated, dateForm, dayForm, timeForm } from "../lib/dates.js";
import { $, el, focusOn, onPress, pressButton, redraw, setText, show, setTextAnew } from "../lib/dom.js";
import { get, latest, onState, post, reasonOf, start } from "../lib/live.js";
import { listOf, capital, language, numeral, t } from "../lib/words.js";
import { drawCoach } from "./coach.js";
import { drawStatistics } from "./statistics.js";
import { drawSteps } from "./steps.js";
import { table } from "./table.js";

const asked = location.pathname.split("/")[2] ?? new URLSearchParams(location.search).get("game");
const number = Number(asked) || null;
const RETRY_MS = 3_000;
let seen = ""; // the shown state; a change of it reloads the data
let found = null; // the server's data

async function load(state) {
  show($("back"), number !== null);
  show($("pause"), state.me.host);
  const { game } = state;
  const now = JSON.stringify([
    state.epoch,
    game?.number,
    game?.over,
    game?.turn,
    game === null,
    state.me.host,
    game?.players.map(({ name }) => name),
    number !== null && state.revision,
  ]);
  if (now === seen) return;
  seen = now;
  const answer = await get(number === null ? "/api/games" : `/api/game?number=${number}`);
  if (now !== seen) return;
  setText($("why"), reasonOf(answer));
  if (!answer?.ok) {
    seen = "";
    if (answer === null) setTimeout(() => load(latest()), RETRY_MS); // the table may be quiet for long
    return;
  }
  found = answer.data;
  if (number === null) drawAll(found, state);
  else drawOne(found);
}

// -- all games

function drawAll({ games, evenings }, { me }) {
  show($("all"), true);
  const from = document.activeElement.closest("#now, #saved")?.id;
  const running = games.find((game) => game.running);
  show($("now"), Boolean(running));
  if (running)
    setText(
      $("now-text"),
      `${titleOf(running)}. ${t("games.turn", { turn: running.turns })}. ${listOf(namesOf(running))}`,
    );
  const saved = games.filter((game) => game.paused);
  show($("saved"), saved.length > 0);
  redraw($("saved-list"), [saved, me.host, Boolean(running)], () =>
    saved.map((game) => savedItem(game, me.host && !running)),
  );
  show($("none"), games.length === 0);
  const [last] = evenings;
  show($("evening"), Boolean(last?.standings.length));
  if (last) {
    setText($("h-evening"), t("games.evening", { date: dated(last.at, dayForm) }));
    redraw($("evening-table"), last.standings, () => [standings(last.standings, "h-evening")]);
  }
  show($("list"), games.length > 0);
  redraw($("evenings"), [games, evenings], () => {
    const groups = evenings.map((evening) => [
      dated(evening.at, dayForm),
      games.filter((game) => evening.games.includes(game.number)),
    ]);
    groups.push([t("games.imported"), games.filter((game) => game.imported)]);
    return groups
      .filter(([, of]) => of.length)
      .flatMap(([title, of]) => [el("h3", { text: title }), el("ul", { class: "game-list" }, ...of.map(item))]);
  });
  drawStatistics(games);
  files();
  if (from === "saved" && running) focusOn($("h-now")); // follow the game
  if (from === "now" && !running) focusOn($(saved.length ? "h-saved" : "h-list"));
}

const titleOf = (game) => t("games.game", { number: game.number, variant: t(`variant.${game.variant}`) });
const namesOf = (game) => game.players.map((player) => player.name);

function howItStands(game) {
  if (game.running) return t("games.is_running");
  if (game.paused) return t("games.is_saved");
  return t(game.over ? `games.end.${game.end}` : "games.is_open");
}

/** Whether a player won; a game that was ended early counts for nobody, and nobody wins alone. */
const isWinner = (game, player) => player.rank === 1 && game.end !== "ended_early" && game.players.length > 1;

function item(game) {
  const when = dated(game.at, game.imported ? dateForm : timeForm); // an evening's heading has its day
  const winner = t("named", { name: t("games.winner"), text: "" });
  const scores = game.players.map((player) =>
    el(
      "span",
      { class: isWinner(game, player) ? "score is-first" : "score" },
      isWinner(game, player) ? el("span", { class: "sr", text: winner }) : null,
      el("bdi", { text: player.name }),
      ` ${numeral(player.total)}`,
    ),
  );
  return el(
    "li",
    {},
    el("a", { href: `/games/${game.number}`, text: titleOf(game) }),
    el("span", { class: "note", text: `${when} · ${howItStands(game)}` }),
    el("span", { class: "scores" }, ...scores),
  );
}

function savedItem(game, canResume) {
  const made = item(game);
  if (!canResume) return made;
  const label = t("games.resume_of", { number: game.number });
  const resume = () => ask("/api/resume", { number: game.number });
  made.append(pressButton({ class: "big", text: t("games.resume"), "aria-label": label }, resume));
  return made;
}

const COLUMNS = ["wins", "points", "games", "best", "misses"];

function standings(found, titled) {
  const heads = COLUMNS.map((key) => [t(`games.column.${key}`)]);
  return table(
    titled,
    heads,
    found.map((each) => ({ name: each.name, values: COLUMNS.map((key) => each[key]) })),
  );
}

// -- one game

function drawOne(game) {
  show($("one"), true);
  document.title = `${titleOf(game)} · ${document.title.split(" · ").pop()}`;
  setText($("h-one"), titleOf(game));
  const winners = game.players.filter((player) => isWinner(game, player)).map((player) => player.name);
  const parts = [
    dated(game.at, dayForm),
    howItStands(game),
    winners.length ? t("named", { name: t("games.winner"), text: listOf(winners) }) : "",
  ];
  setText($("one-text"), parts.filter(Boolean).join(" · "));
  redraw($("one-table"), game.players, () => [result(game)]);
  drawSteps(game);
  void drawCoach(game);
  setText($("record"), game.text);
  files();
}

function result(game) {
  const signs = game.sheets[0].rows.filter((row) => row.colour);
  const heads = [
    [t("game.total")],
    ...signs.map((row) => [signOf(row), el("span", { class: "sr", text: capital(row.name) })]),
    [t("games.column.misses")],
  ];
  const rows = game.players.map((player) => ({
    name: player.name,
    values: [player.total, ...signs.map((row) => player.rows[row.colour]), -player.minus],
    isFirst: isWinner(game, player),
  }));
  return table("h-one", heads, rows);
}

const signOf = (row) => el("span", { class: `row-sign is-${row.colour}` }, sign({ ...row, lock: row.colour }));

// -- files and buttons

function files() {
  show($("files"), number !== null || found.games.length > 0);
  for (const link of document.querySelectorAll("#files a")) {
    const only = number === null ? "" : `&number=${number}`;
    link.href = `/api/export?form=${link.dataset.form}${only}&language=${language}`;
  }
}

async function ask(path, body = {}) {
  const answer = await post(path, body);
  setTextAnew($("why"), reasonOf(answer));
}

onPress($("pause"), () => ask("/api/pause"));
onState(load);
start();
