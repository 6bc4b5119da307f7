// The button that ends an answer, and the countdown in it while answers may still be taken back.
import { Countdown } from "../lib/countdown.js";
import { $, GUARD_MS, setAttribute, setOff, setText } from "../lib/dom.js";
import { t } from "../lib/words.js";

let guardedFor = ""; // the meaning for which the button was last disabled
let guardTimer = 0;
let redrawLast = () => {}; // draws the button as it was drawn last, with the seconds left now
const countdown = new Countdown(() => redrawLast());

/**
 * Draw the button.
 * @param isMyMove the player may answer in the open action
 * @param redraw draws the page anew
 */
export function drawDone(state, mine, answer, isMyMove, redraw) {
  const { game } = state;
  const button = $("done");
  const isCounting = countdown.follow(state);
  const isBack = isCounting && Boolean(answer?.done);
  // a double tap, or a press meant for other dice, must not answer or take back
  guard(`${game.number} ${game.turn} ${game.action} ${isBack} ${mine.seat} ${JSON.stringify(game.roll)}`, redraw);
  button.classList.toggle("is-counting", isCounting);
  if (isCounting) setLength(button, game.closes_in_s, state.version);
  redrawLast = () => label(button, game, answer, isMyMove);
  redrawLast();
  button.classList.toggle("is-way", game.over);
}

/** Let the bar in the button run down once for each snapshot. */
function setLength(button, seconds, version) {
  if (button.dataset.counts === String(version)) return;
  button.dataset.counts = String(version);
  button.style.setProperty("--closes", `${seconds}s`);
  for (const bar of button.getAnimations({ subtree: true })) if (bar.animationName === "run") bar.currentTime = 0;
}

function label(button, game, answer, isMyMove) {
  const { seconds } = countdown;
  const canTakeBack = isMyMove && Boolean(answer?.done) && seconds > 0;
  setText(button, textOf(game, answer, isMyMove, canTakeBack, seconds));
  // with the seconds in its name, the focused button would be read out anew with each of them
  setAttribute(button, "aria-label", seconds ? textOf(game, answer, isMyMove, canTakeBack, 0) : null);
  setOff(button, !game.over && (!isMyMove || (Boolean(answer?.done) && !canTakeBack) || guardTimer !== 0));
  button.classList.toggle("is-back", canTakeBack);
  button.classList.toggle("is-miss", isMyMove && game.miss_due && !answer?.box && !canTakeBack);
}

/** The words in the button, with the seconds left or, if they are 0, without. */
function textOf(game, answer, isMyMove, canTakeBack, seconds) {
  const left = seconds ? ` (${seconds})` : "";
  if (game.over) return t("over.back");
  if (canTakeBack) return t("take_back") + left;
  if (!isMyMove && countdown.seconds > 0) return t("closes_in", { seconds: seconds || "…" });
  if (isMyMove && answer?.box) return t("done") + left;
  return isMyMove && answer?.done ? t("passed") : t("pass");
}

/** Disable the button for the length of a double tap when it comes to mean something else. */
function guard(meaning, redraw) {
  if (meaning === guardedFor) return;
  guardedFor = meaning;
  clearTimeout(guardTimer);
  guardTimer = window.setTimeout(() => {
    guardTimer = 0;
    redraw();
  }, GUARD_MS);
}
