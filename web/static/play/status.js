// The status line of a player's page (pure): one sentence that says what to do.
import { capital, listOf, pairOf, t, term } from "../lib/words.js";
import { questionAbout, tappedColour } from "./doubt.js";

const TROUBLE = new Set(["obstructed", "cocked", "missing", "extra", "uncertain"]);
const WAITING = new Set(["waiting", "empty", "old", "none"]);

/** Whether the tray needs somebody's hand before the roll can be confirmed. */
export const isTrouble = ({ game, tray, table }) =>
  game?.phase === "roll" && !table.typed_rolls && TROUBLE.has(tray.status);

/** Whether a bot is on turn: anybody throws for it. */
export const isBotsTurn = (game) => game.players.some(({ seat, bot }) => bot && seat === game.active);

/** Whether this device throws, also while it shows the sheet of another of its players. */
export const isThrowing = ({ game, me }) => me.seats.includes(game.active) || isBotsTurn(game);

/** Return the colour of the die to ask this device about, or null. */
export const askedColour = (state) =>
  isThrowing(state) && !state.table.typed_rolls ? (state.tray.asked ?? tappedColour()) : null;

/** Name a box: its row and number. */
export function boxName(game, token) {
  const row = game.rows.find((each) => each.boxes.some((box) => box.token === token));
  return `${row.name} ${row.boxes.find((box) => box.token === token).number}`;
}

/** Return the sentence for a player, with their answer as known to this page. */
export function statusOf(state, mine, answer, nameOf) {
  const { game } = state;
  const active = nameOf(game.active);
  const isMine = game.active === mine.seat;
  if (game.over) return `${t("over.title")}. ${game.winner_text}`;
  if (game.phase === "roll") return rollStatus(state, active, isMine, isBotsTurn(game));
  if (game.phase === "action2" && !isMine) return t("say.action2.other", { name: active });
  const closing = game.closing.filter((each) => each.seat !== mine.seat);
  const closes = [...new Set(closing.map((each) => each.row))]
    .map((key) => {
      const names = closing.filter((each) => each.row === key).map((each) => nameOf(each.seat));
      return `${t("say.closes", { names: listOf(names), row: rowTerm(game, key), count: names.length })} `;
    })
    .join("");
  if (answer === null) return closes + choiceStatus(state, mine) + adviceOf(game, mine);
  const box = answer.box ? boxName(game, answer.box) : null;
  const waiting = game.waiting_for.filter((seat) => seat !== mine.seat).map(nameOf);
  if (box && !answer.done) {
    const dice = pairOf(mine.made_by[answer.box] ?? []);
    // the last answer opens the countdown: worded before the table replies, it is read out once
    const key = game.closes_in_s || !waiting.length ? "say.tapped.counts" : "say.tapped";
    return closes + t(key, { box: capital(box), dice });
  }
  if (closing.length) return closes + t("say.may_change");
  const chosen = box ? t("say.crossed", { box: capital(box) }) : t("say.passed");
  if (waiting.length) return `${chosen} ${t("say.waiting", { names: listOf(waiting) })}`;
  return game.closes_in_s || state.table.take_back ? `${chosen} ${t("say.may_change")}` : chosen;
}

/** In a practice game, what the coach would cross. */
function adviceOf(game, mine) {
  const advice = game.advice.find(({ seat }) => seat === mine.seat);
  if (!advice) return "";
  return ` ${t("say.advice", { box: advice.box ? boxName(game, advice.box) : t("say.advice.pass") })}`;
}

function choiceStatus({ game, table }, mine) {
  const fits = !table.hints || mine.legal.length > 0; // without hints, do not reveal that nothing fits
  const sum = game.sums?.white;
  if (game.phase === "action1") return t(fits ? "say.action1" : "say.action1.none", { sum });
  const miss = game.miss_due ? ` ${t("say.miss")}` : "";
  return t(fits ? "say.action2" : "say.action2.none") + miss;
}

function rollStatus(state, name, isMine, isBots) {
  const { tray, table } = state;
  const asked = askedColour(state);
  if (asked) return questionAbout(asked, tray);
  if (!table.typed_rolls && tray.confirmable) {
    if (!isMine && !isBots) return t("say.roll.confirm.other", { name });
    const isTold = tray.dice.some((each) => each.by_hand); // by a tap that may have been a wrong one
    return [t("say.roll.confirm"), isTold && !table.can_throw ? t("say.tap_die") : ""].filter(Boolean).join(" ");
  }
  if (!table.typed_rolls && !WAITING.has(tray.status)) return tray.text;
  if (isBots) return t(table.typed_rolls ? "say.roll.bot.typed" : "say.roll.bot", { name });
  if (isMine) return t(table.typed_rolls ? "say.roll.typed" : "say.roll");
  return t(table.typed_rolls ? "say.roll.typed.other" : "say.roll.other", { name });
}

const rowTerm = (game, key) => term(game.rows.find((row) => row.key === key).word);
