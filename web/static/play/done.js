// The button that ends an answer, and the countdown in it while the answer may be taken back.
import { $, GUARD_MS, setAttribute, setText } from "../lib/dom.js";
import { t } from "../lib/words.js";

let guardedFor = ""; // the action for which the button was last disabled
let guardTimer = 0;
let closesAt = 0; // when the open action closes, in milliseconds of performance.now()
let countedFor = ""; // the countdown that is running
let tickTimer = 0;

/**
 * Draw the button.
 * @param isMyMove the player may answer in the open action
 * @param redraw draws the page anew
 */
export function drawDone(state, mine, answer, isMyMove, redraw) {
  const { game } = state;
  const button = $("done");
  // a double tap, or a press meant for other dice, must not answer
  guard(`${game.number} ${game.turn} ${game.action} ${mine.seat} ${JSON.stringify(game.roll)}`, redraw);
  count(state);
  const canTakeBack = isMyMove && Boolean(answer?.done) && secondsLeft() > 0;
  setText(button, labelOf(game, answer, isMyMove, canTakeBack));
  const isOff = !game.over && (!isMyMove || (Boolean(answer?.done) && !canTakeBack) || guardTimer !== 0);
  setAttribute(button, "aria-disabled", isOff ? "true" : null); // `disabled` would lose the focus
  button.classList.toggle("is-way", game.over);
  button.classList.toggle("is-back", canTakeBack);
  button.classList.toggle("is-miss", isMyMove && game.miss_due && !answer?.box && !canTakeBack);
}

function labelOf(game, answer, isMyMove, canTakeBack) {
  if (game.over) return t("over.back");
  if (canTakeBack) return t("take_back", { seconds: secondsLeft() });
  if (isMyMove && answer?.box) return t("done");
  return isMyMove && answer?.done ? t("passed") : t("pass");
}

/** Return the whole seconds until the open action closes, 0 if it does not close by itself. */
const secondsLeft = () => Math.max(0, Math.ceil((closesAt - performance.now()) / 1_000));

/** Follow the server's countdown: every snapshot sets it, the page's own clock runs it down. */
function count({ game, version }) {
  const is = game.closes_in_s !== null && game.closes_in_s > 0;
  const countdown = is ? `${version}` : "";
  if (countdown === countedFor) return;
  countedFor = countdown;
  closesAt = is ? performance.now() + game.closes_in_s * 1_000 : 0;
  $("done").style.setProperty("--closes", `${game.closes_in_s ?? 0}s`);
  $("done").classList.toggle("is-counting", is);
  clearInterval(tickTimer);
  if (is) tickTimer = setInterval(tick, 200);
}

function tick() {
  const left = secondsLeft();
  if ($("done").classList.contains("is-back") && left > 0)
    setText($("done"), t("take_back", { seconds: left }));
  if (left === 0) {
    clearInterval(tickTimer);
    if ($("done").classList.contains("is-back")) setAttribute($("done"), "aria-disabled", "true");
  }
}

/** Disable the button for the length of a double tap when another action opens. */
function guard(action, redraw) {
  if (action === guardedFor) return;
  guardedFor = action;
  clearTimeout(guardTimer);
  guardTimer = window.setTimeout(() => {
    guardTimer = 0;
    redraw();
  }, GUARD_MS);
}
