// A player's answers: shown at once, sent one after the other until the server has them.
import { GUARD_MS } from "../lib/dom.js";
import { latest, newKey, postUntilAnswered, reasonOf } from "../lib/live.js";
import { recall, remember } from "../lib/storage.js";
import { t } from "../lib/words.js";

const UNSENT = "unsent-answers"; // a phone that falls asleep may drop its page
const pending = new Map(); // by seat, answers that the server has not confirmed yet
let tapped = ["", 0]; // the box tapped last, and when
let sending = null; // the seat whose answer is on its way, and what stops it
let page = null;

/** @param own the page: `player()` shown, `draw()`, `explain(text, ruling)` and `handOn(sent)` */
export function configureAnswers(own) {
  page = own;
}

export function mayAnswer(game, mine) {
  if (game.over || game.action === 0) return false;
  return game.action === 1 || game.active === mine.seat;
}

const belongsTo = (each, game) =>
  each !== undefined &&
  game !== null &&
  each.rolled === game.rolled &&
  each.turn === game.turn &&
  each.action === game.action;

/** Return the player's answer; a pending one counts until the server replies. */
export function currentAnswer(game, mine) {
  const wanted = pending.get(mine.seat);
  if (!belongsTo(wanted, game)) return mine.answer;
  return wanted.isBack ? null : { box: wanted.box, done: wanted.done };
}

/** Return whether the table closed an action without an answer that is still on its way. */
export const isOvertaken = (game) =>
  [...pending.values()].some((each) => {
    const player = game?.players.find(({ seat }) => seat === each.seat); // none has a seat that was freed
    if (!player || each.number !== game.number || belongsTo(each, game)) return false;
    const crossed = Object.values(player.sheet).flat();
    return (each.tried?.find((box) => crossed.includes(box)) ?? null) !== each.box;
  });

export function tapBox(token, { pointerType, detail }) {
  const isSoon = token === tapped[0] && Date.now() - tapped[1] < GUARD_MS;
  const isDoubleTap = isSoon && (pointerType !== "mouse" || detail > 1); // a mouse tells
  tapped = [token, Date.now()];
  if (isDoubleTap) return; // it would take the mark back
  const { game } = latest();
  const mine = page.player();
  if (!mayAnswer(game, mine)) {
    const [why, ruling] = game.over
      ? ["over", game.end_ruling]
      : game.action === 2
        ? ["not_yours", "E4"]
        : ["no_roll", "E1"];
    page.explain(t(`why.${why}`), ruling);
    return;
  }
  const answer = currentAnswer(game, mine);
  if (answer?.box === token) sendAnswer({ isBack: true });
  else sendAnswer({ box: token, done: false }, mine.legal.includes(token));
}

/** Send an answer; show it at once if `isShown`. */
export async function sendAnswer(what, isShown = true) {
  const { game } = latest();
  const mine = page.player();
  const before = pending.get(mine.seat);
  const own = {
    box: null,
    done: false,
    isBack: false,
    ...what,
    tried: [...((belongsTo(before, game) && before.tried) || []), mine.answer?.box, what.box],
    seat: mine.seat,
    number: game.number,
    rolled: game.rolled,
    turn: game.turn,
    action: game.action,
    key: newKey(),
  };
  page.explain("");
  if (!isShown) {
    settle(await postAnswer(own), own);
    return;
  }
  pending.set(own.seat, own);
  if (sending?.seat === own.seat) sending.stop.abort(); // its reply may never come
  keepPending();
  page.draw();
  return sendPending();
}

/** Send the answers of this game that an earlier page of this device could not. */
export function sendUnsent() {
  let unsent = [];
  try {
    unsent = JSON.parse(recall(UNSENT) || "[]");
  } catch {} // cut short by a full storage
  const { me, game } = latest() ?? {};
  for (const own of game ? unsent : [])
    if (me.seats.includes(own.seat) && own.number === game.number) pending.set(own.seat, own);
  keepPending();
  if (pending.size) page.draw();
  return sendPending();
}

function keepPending() {
  remember(UNSENT, pending.size ? JSON.stringify([...pending.values()]) : "");
}

async function sendPending() {
  if (sending) return; // sent after the reply to the current one
  try {
    while (pending.size) {
      const [sent] = pending.values();
      sending = { seat: sent.seat, stop: new AbortController() };
      const answer = await postAnswer(sent, sending.stop.signal);
      if (pending.get(sent.seat) !== sent) continue;
      pending.delete(sent.seat);
      keepPending();
      settle(answer, sent);
    }
  } finally {
    sending = null;
  }
}

function postAnswer(each, signal) {
  const { seat, rolled, turn, action, key } = each;
  const where = { seat, rolled, turn, action, key };
  const isTimely = () => belongsTo(each, latest().game);
  if (each.isBack) return postUntilAnswered("/api/withdraw", where, isTimely, signal);
  const body = { ...where, box: each.box, done: each.done, revocable: true };
  return postUntilAnswered("/api/answer", body, isTimely, signal);
}

function settle(answer, sent) {
  if (answer === null) page.explain(t("why.too_late"));
  else if (!answer.ok) page.explain(reasonOf(answer), answer.data.ruling);
  else if (sent.done) page.handOn(sent);
  page.draw();
}
