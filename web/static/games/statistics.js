// Players over all evenings, filtered by sheet and company, and the table's dice.
import { $, el, isOff, offBriefly, onPress, onSubmit, redraw, setText, show, setTextAnew } from "../lib/dom.js";
import { get, latest, post, reasonOf } from "../lib/live.js";
import { language, numeral, ratingText, t } from "../lib/words.js";
import { chart } from "./coach.js";
import { table } from "./table.js";

const decimals = (n) => new Intl.NumberFormat(language, { minimumFractionDigits: n, maximumFractionDigits: n });
const MEANS = { average: decimals(1), misses: decimals(2), closings: decimals(2) }; // as the server rounds them
const COLUMNS = ["rating", "average", "best", "games", "wins", "streak", "misses", "closings"];
const RETRY_MS = 3_000;
let seen = ""; // the finished games that are shown
const retries = {}; // by what is asked for, the timer that asks again

/** Show players and dice; another game that ends, or ends no longer, asks anew. */
export function drawStatistics(games) {
  const over = JSON.stringify(games.filter((game) => game.over));
  if (over === seen || !games.length) return;
  seen = over;
  void load();
  void loadDice();
}

const together = () => [...document.querySelectorAll("#choose-players input:checked")].map((box) => box.value);

function query() {
  const chosen = together().map((name) => ["player", name]);
  const variant = $("choose-variant").value;
  const bots = $("choose-bots").checked ? [["bots", "1"]] : [];
  return new URLSearchParams([...chosen, ...bots, ...(variant ? [["variant", variant]] : []), ["language", language]]);
}

/** Ask again after a while, once for all that were asked meanwhile: the table may be quiet for long. */
function again(ask) {
  clearTimeout(retries[ask.name]);
  retries[ask.name] = setTimeout(ask, RETRY_MS);
}

async function load() {
  const asked = String(query());
  const answer = await get(`/api/statistics?${asked}`);
  if (asked !== String(query())) return;
  if (answer === null) again(load);
  if (!answer?.ok) return;
  const { games, players, pairs, best, names, people, ratings, decided, decided_drawn: share } = answer.data;
  show($("statistics"), names.length > 0);
  const chosen = together();
  redraw($("choose-players"), names, () => names.map((name) => choice(name, chosen.includes(name))));
  show($("people"), latest().me.host && people.length > 0);
  const meant = $("people-name").value;
  redraw($("people-name"), people, () => people.map((name) => el("option", { value: name, text: name })));
  if (people.includes(meant)) $("people-name").value = meant;
  else if (meant) $("people-to").value = ""; // it was meant for somebody who is gone
  setText($("chosen"), t("games.chosen", { count: games }));
  redraw($("statistics-table"), players, () => (players.length ? [tableOf(players)] : []));
  show($("ratings"), ratings !== null);
  if (ratings !== null) chart($("ratings"), ratings);
  show($("decided"), share !== null);
  if (share !== null) chart($("decided"), share);
  show($("not-reviewed"), decided.luck + decided.choices + decided.close < decided.games);
  show($("records"), players.length > 0);
  redraw($("best"), best, () => best.map(record));
  redraw($("pairs"), pairs, () => pairs.map(meeting));
  $("players-csv").href = `/api/players.csv?${asked}`;
  $("players-json").href = `/api/statistics?${asked}`;
}

async function loadDice() {
  const answer = await get("/api/dice");
  if (answer === null) again(loadDice);
  if (!answer?.ok) return;
  show($("dice"), answer.data.enough); // a chart of a few throws says nothing
  chart($("dice-chart"), answer.data);
}

const choice = (name, checked) =>
  el(
    "label",
    { class: "switch" },
    el("input", { type: "checkbox", value: name, checked }),
    el("span", {}, el("bdi", { text: name })),
  );

const record = ({ name, total, game }) => {
  const link = el("a", { class: "record", href: `/games/${game}`, text: t("games.game_number", { number: game }) });
  return el("li", {}, el("bdi", { text: name }), ` ${numeral(total)} `, link);
};

const meeting = ({ one, other, one_ahead: ahead, other_ahead: behind }) =>
  el("li", {}, el("bdi", { text: one }), ` ${numeral(ahead)} : ${numeral(behind)} `, el("bdi", { text: other }));

function tableOf(players) {
  const heads = COLUMNS.map((key) => [t(`games.column.${key === "misses" ? "misses_per_game" : key}`)]);
  const rows = players.map((each) => ({ name: each.name, values: COLUMNS.map((key) => valueOf(each, key)) }));
  return table("h-statistics", heads, rows);
}

function valueOf(each, key) {
  if (key === "rating") return ratingText(each.rating);
  return MEANS[key]?.format(each[key]).replace("-", "−") ?? each[key];
}

/** Rename, merge or delete the chosen player; null deletes. */
async function change(to) {
  const answer = await post("/api/player", { name: $("people-name").value, to });
  setTextAnew($("people-why"), reasonOf(answer));
  ask(false);
  if (answer?.ok) location.reload(); // the name stands in every list
}

/** The button to delete asks once more before it does. */
function ask(isSure) {
  const name = $("people-name").value;
  $("people-delete").dataset.sure = isSure ? name : "";
  setText($("people-delete"), isSure ? t("games.delete_sure", { name }) : t("games.delete"));
}

const UNSEEN = /[\p{Cf}\p{Variation_Selector}\u034f\u17b4\u17b5]/gu;
const folded = (c) => (c === "ı" ? c : c.toLowerCase().toUpperCase().toLowerCase()); // by way of SS for ß

/** Like the server's `name_key`: "Groß", "GROẞ" and "gross" are one, and so are a black and a red heart. */
const keyOf = (name) =>
  [...name.normalize("NFC").replace(UNSEEN, "").replace(/\s+/gu, " ").trim()].map(folded).join("");

/** Two players become one only after the button has named both: it cannot be taken back. */
function rename() {
  const [name, to] = [$("people-name").value, $("people-to").value];
  const same = (one) => keyOf(one) === keyOf(to);
  const other = [...$("people-name").options].map(({ value }) => value).find((one) => one !== name && same(one));
  const button = $("people-form").querySelector("[type=submit]");
  const asked = other ? t("games.merge_sure", { name, other }) : "";
  if (isOff(button)) return undefined; // the second half of a double tap
  if (!other || button.textContent === asked) return change(to);
  setText(button, asked);
  return offBriefly(button);
}

onSubmit($("people-form"), rename);
$("people-form").addEventListener("input", () =>
  setText($("people-form").querySelector("[type=submit]"), t("games.rename")),
);
onPress($("people-delete"), () => {
  if ($("people-delete").dataset.sure === $("people-name").value) return change(null);
  ask(true);
  return offBriefly($("people-delete"));
});
$("people-name").addEventListener("change", () => ask(false));
$("choose").addEventListener("change", load);
