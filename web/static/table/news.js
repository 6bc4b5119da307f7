// The news: what was announced, the roll, and who has to answer; between rolls, everybody's sheet.
import { confetti } from "../lib/confetti.js";
import { dateForm } from "../lib/dates.js";
import { rollOf, sign } from "../lib/dice.js";
import { $, el, redraw, setAttribute, setText } from "../lib/dom.js";
import { get } from "../lib/live.js";
import { miniSheet, sheetOf } from "../lib/mini-sheet.js";
import { podium } from "../lib/podium.js";
import { SEATS } from "../lib/seats.js";
import { listOf, numeral, t } from "../lib/words.js";
import { isBotsTurn, isTrouble } from "../play/status.js";
import { addressOf, codes, isNear, pairText, report, shortOf } from "./door.js";

const NEWS = new Set(["closing", "closed", "miss", "undone", "refused"]);
const BLIND = new Set(["dark", "blocked", "frozen", "lost"]);
const AGAIN_MS = 1_500;

/** Whether a roll is due that the camera cannot see. */
export const isBlind = ({ game, tray }) => game?.phase === "roll" && BLIND.has(tray.status);

/** Return what is wrong with the dice or the camera before a roll, or "". */
export function troubleOf(state) {
  return isBlind(state) || isTrouble(state) ? state.tray.text : "";
}

export function drawNews(state, nameOf) {
  const { game } = state;
  if (game === null) return drawLobby(state);
  if (game.over) return drawOver(state, nameOf);
  const said = state.announcement;
  const text = said?.text ?? "";
  if (game.action) {
    const isBanner = NEWS.has(said?.kind);
    redraw($("news"), ["action", said, game.roll, game.dice, game.sums, game.action], () => [
      rollNews(game),
      isBanner ? el("p", { class: "banner", "data-kind": said.kind, text: said.headline }) : null,
      isBanner && text === said.headline ? null : el("p", { class: `said${lengthOf(text)}`, text }),
      el("p", { class: "asked" }),
    ]);
    const asked = $("news").querySelector(".asked"); // an answer does not draw the roll anew
    setText(asked, askedText(game, nameOf));
    setAttribute(asked, "data-answered", game.waiting_for.length === 0);
    return;
  }
  drawRollDue(state, nameOf);
}

/** Draw what the table waits for before a roll: a throw, the button, or somebody's hand. */
function drawRollDue(state, nameOf) {
  const { game, tray, table, announcement } = state;
  const trouble = troubleOf(state);
  const text = announcement?.text ?? "";
  const name = nameOf(game.active);
  const isTurn = announcement === null || announcement.kind === "turn";
  const throws = isBotsTurn(game) ? t("say.roll.bot", { name }) : t("table.throws", { name });
  const headline = trouble || (announcement?.headline ?? throws);
  const asked = askedBeforeRoll(state, trouble, isTurn, name, throws);
  const sheets = !trouble && lengthOf(text) === "" ? game.players.filter((player) => !player.gone) : [];
  redraw($("news"), ["roll", headline, trouble, announcement, asked, table.typed_rolls, sheets], () => [
    el("p", {
      class: `headline${lengthOf(headline)}`,
      "data-kind": trouble ? "trouble" : (announcement?.kind ?? "turn"),
      text: headline,
    }),
    trouble || isTurn || text === headline ? null : el("p", { class: `said${lengthOf(text)}`, text }),
    el("p", { class: `asked${tray.confirmable || isBlind(state) ? " is-due" : ""}`, text: asked }),
    sheets.length ? miniSheets(game, sheets) : null,
  ]);
}

function askedBeforeRoll(state, trouble, isTurn, name, throws) {
  if (isBlind(state)) return t(isBotsTurn(state.game) ? "say.roll.bot.typed" : "say.roll.typed.other", { name });
  if (state.tray.confirmable) return state.tray.text;
  if (trouble) return "";
  return isTurn && !isBotsTurn(state.game) ? "" : throws;
}

/** Draw the sheets of players. */
function miniSheets(game, players) {
  const sheets = players.map((player) => miniSheet(sheetOf(game, player), numeral(player.points.total)));
  return el("div", { class: "mini-sheets" }, ...sheets);
}

/** Draw the white sum, the dice, and the sums of each coloured die. */
function rollNews(game) {
  const sums = game.rows
    .filter((row) => row.lock && game.sums.colour[row.lock])
    .map((row) => {
      const legal = legalSums(game, row);
      const shown = legal.length ? legal : game.sums.colour[row.lock];
      return el(
        "li",
        { class: `is-${row.lock}${legal.length ? "" : " is-idle"}` },
        sign(row),
        el("span", { class: "sr", text: `${row.name} ` }),
        el("span", { text: shown.join(" · ") }),
      );
    });
  return el(
    "div",
    { class: "news-top", "data-action": game.action },
    el("p", { class: "headline", "data-kind": "roll", text: String(game.sums.white) }),
    el(
      "div",
      { class: "made-of" },
      el("div", { class: "dice" }, ...rollOf(game)),
      el("ul", { class: "sums", "aria-label": t("table.sums") }, ...sums),
    ),
  );
}

/** Return the sums of a row's die that the active player may cross in action 2. */
function legalSums(game, row) {
  const sums = game.sums.colour[row.lock];
  if (game.action !== 2) return sums;
  const { legal, made_by } = game.players.find((player) => player.seat === game.active);
  const dice = legal
    .map((token) => made_by[token] ?? [])
    .filter((pair) => pair.some((die) => die.colour === row.lock));
  const made = new Set(dice.map((pair) => pair.reduce((sum, die) => sum + die.value, 0)));
  return sums.filter((sum) => made.has(sum));
}

/** Long texts get smaller letters. */
const lengthOf = (text) => (text.length > 320 ? " is-very-long" : text.length > 180 ? " is-long" : "");

function askedText(game, nameOf) {
  const waiting = game.waiting_for.map(nameOf);
  return waiting.length ? t("table.waiting_for", { names: listOf(waiting) }) : t("table.all_answered");
}

function drawLobby({ seats, table, me }) {
  const { door, pairing } = me;
  const url = addressOf(table);
  redraw($("news"), ["lobby", url, table.join_name, seats.length, door, pairing, table.hosted], () => [
    el(
      "div",
      { class: `qr${door?.wifi ? " has-wifi" : ""}` },
      el("div", { class: "codes" }, ...codes(door, url)),
      el(
        "div",
        {},
        el("h2", { text: seats.length < SEATS ? t("table.join") : t("table.seats") }),
        el("p", { class: "address", text: shortOf(url) }),
        isNear(url) ? el("p", { text: t("table.no_network") }) : null,
        table.join_name
          ? el("p", { class: "quiet", text: t("table.or_name", { name: shortOf(table.join_name) }) })
          : null,
        door ? el("p", { class: "table-code" }, `${t("table.code")} `, el("b", { text: door.code })) : null,
        door?.pin ? el("p", { class: "quiet", text: t("table.pin", { pin: door.pin }) }) : null,
        pairing ? el("p", { class: "quiet", text: pairText({ me, table }) }) : null,
      ),
    ),
  ]);
}

/** Return a note that shows the day of a game once the table has answered. */
function dayOf(number, note = el("span", { class: "note" })) {
  void get(`/api/game?number=${number}`).then((answer) => {
    if (answer === null && note.isConnected) setTimeout(dayOf, AGAIN_MS, number, note);
    const at = new Date(answer?.data.at);
    if (Number.isNaN(at.valueOf())) return;
    note.textContent = dateForm.format(at);
    dispatchEvent(new Event("resize")); // the page fits what it shows to the screen again
  });
  return note;
}

function drawOver({ game, seats, table, me: { door } }, nameOf) {
  const isFree = door !== null && seats.length < SEATS;
  redraw($("news"), ["over", game.number, game.ranking, game.end_text, isFree && door, addressOf(table)], () => [
    el("p", {
      class: `headline${game.winner_text.length > 40 ? " is-long" : ""}`,
      "data-kind": "over",
      text: game.winner_text,
    }),
    el("p", { class: "said" }, el("span", { text: game.end_text }), " ", dayOf(game.number)),
    el("ol", { class: "podium" }, ...podium(game, nameOf)),
    miniSheets(game, game.players),
    game.winners.length ? confetti() : null,
    el(
      "div",
      { class: "next" },
      isFree ? el("div", { class: "codes" }, ...codes(door, addressOf(table))) : null,
      isFree ? el("p", {}, t("table.next_game"), el("b", { text: door.code })) : null,
      report(game.number, addressOf(table)),
    ),
  ]);
}
