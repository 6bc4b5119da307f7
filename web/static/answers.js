// What a player answers: shown at once, sent until the table has heard it, one after the other.
import { now, postSurely } from "./live.js";
import { t } from "./words.js";

const wishes = new Map(); // by seat, what this page asked for and the table has not answered yet
let isSending = false;
let page = null;

/** @param own the page: `player()` whose sheet it shows, `draw()`, `explain(text, ruling)` and `handOn(sent)` */
export function answerFor(own) {
  page = own;
}

export function mayAnswer(game, mine) {
  if (game.over || game.action === 0) return false;
  return game.action === 1 || game.active === mine.seat;
}

const isFor = (each, game) => each !== undefined && game !== null && each.rolled === game.rolled && each.turn === game.turn && each.action === game.action;

/** The answer as this page knows it: what was just tapped counts until the table says otherwise. */
export function currentAnswer(game, mine) {
  const wish = wishes.get(mine.seat);
  if (!isFor(wish, game)) return mine.answer;
  return wish.isBack ? null : { box: wish.box, done: wish.done };
}

export function tapped(token) {
  const { game } = now();
  const mine = page.player();
  if (!mayAnswer(game, mine)) {
    const [why, ruling] = game.over ? ["over", "E18"] : game.action === 2 ? ["not_yours", "E4"] : ["no_roll", "E1"];
    page.explain(t(`why.${why}`), ruling);
    return;
  }
  const answer = currentAnswer(game, mine);
  if (answer?.box === token) ask({ isBack: true });
  else ask({ box: token, done: false }, mine.legal.includes(token));
}

/** Ask for an answer; it shows at once unless the sheet already knows better. */
export async function ask(what, isShown = true) {
  const { game } = now();
  const own = { box: null, done: false, isBack: false, ...what, seat: page.player().seat, rolled: game.rolled, turn: game.turn, action: game.action };
  page.explain("");
  if (!isShown) {
    settle(await send(own, () => true), own);
    return;
  }
  wishes.set(own.seat, own);
  page.draw();
  if (isSending) return; // the newest wish is sent when the one under way is answered
  isSending = true;
  try {
    while (wishes.size) {
      const [sent] = wishes.values();
      const isWanted = () => wishes.get(sent.seat) === sent;
      const answer = await send(sent, isWanted);
      if (!isWanted()) continue;
      wishes.delete(sent.seat);
      settle(answer, sent);
    }
  } finally {
    isSending = false;
  }
}

function send(each, isWanted) {
  const where = { seat: each.seat, rolled: each.rolled, turn: each.turn, action: each.action };
  const isTimely = () => isFor(each, now().game);
  if (each.isBack) return postSurely("/api/withdraw", where, isWanted, isTimely);
  return postSurely("/api/answer", { ...where, box: each.box, done: each.done }, isWanted, isTimely);
}

function settle(answer, sent) {
  if (answer === null) page.explain(t("why.too_late"));
  else if (!answer.ok) page.explain(answer.data.message ?? t("why.unknown"), answer.data.ruling);
  else if (sent.done) page.handOn(sent);
  page.draw();
}
