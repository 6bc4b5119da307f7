// Ten rolls that show whether the tray is read: each is judged right, wrong or unread.
import { die } from "../lib/dice.js";
import { $, setAttribute, el, redraw, setOff, setText, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { dieName, t } from "../lib/words.js";

const ROLLS = 10;
const UNTOUCHED = 0.02; // share of the picture's width: a die that moved less was not thrown

let rolls = null; // {right, wrong, unread, missed, frame, lay, stirred}: `frame` was judged, its dice at `lay`
const doubted = new Set(); // indices of dice tapped as wrong

/** Whether a first roll was asked for. */
export const areBegun = () => rolls !== null;

/** Forget the rolls: the tray they were thrown in is measured anew. */
export function forget() {
  rolls = null;
  setText($("rolls-said"), "");
  drawRolls(latest());
}

const done = () => rolls.right + rolls.wrong + rolls.unread;

/** Begin ten rolls. */
export function begin() {
  if (latest() === null) return; // with the first snapshot
  rolls = { right: 0, wrong: 0, unread: 0, missed: {}, isPending: true, ...judged(latest().tray) };
  doubted.clear();
  drawRolls(latest());
}

/** What is kept of the dice that were judged: read anew they are no new throw. */
const judged = ({ frame, dice }) => ({ frame, lay: dice.map(({ centre }) => centre), stirred: false });

function isNewThrow({ frame, size, dice }) {
  if (frame === rolls.frame) return false;
  const isNear = ([x, y]) => rolls.lay.some(([u, v]) => Math.hypot(x - u, y - v) < UNTOUCHED * size[0]);
  return rolls.stirred || 2 * dice.filter(({ centre }) => isNear(centre)).length <= dice.length;
}

/** Count a roll as right, wrong or unread; returns whether it was the last one. */
export function judge(verdict) {
  const { tray } = latest();
  if (verdict === "wrong") {
    const seen = tray.dice.filter((one) => one.in_tray);
    for (const n of doubted) rolls.missed[seen[n].colour] = (rolls.missed[seen[n].colour] ?? 0) + 1;
  }
  rolls[verdict] += 1;
  Object.assign(rolls, judged(tray));
  doubted.clear();
  drawRolls(latest());
  return done() === ROLLS;
}

/** Draw the step for a snapshot. */
export function drawRolls(state) {
  const { tray, table, game } = state;
  const isOn = rolls !== null && done() < ROLLS;
  if (isOn && rolls.isPending && tray.status !== "moving") Object.assign(rolls, judged(tray)); // read anew
  if (isOn && !["waiting", "reading"].includes(tray.status)) rolls.isPending = false;
  if (isOn && tray.status === "moving") rolls.stirred = true;
  const isNew = isOn && isNewThrow(tray);
  const isRead = isNew && tray.status === "ok";
  const isOver = rolls !== null && !isOn;
  show($("throw"), table.can_throw);
  show($("throw-again"), table.can_throw && isOn);
  for (const id of ["throw", "throw-again"]) setOff($(id), (game?.action ?? 0) > 0);
  $("throw-again").classList.toggle("primary", !isRead);
  show($("verdicts"), isOn);
  show($("again"), rolls !== null && done() > 0);
  show($("finished"), isOver);
  show($("kept-rolls"), isOver);
  const seen = isRead ? tray.dice.filter((one) => one.in_tray) : [];
  if (!seen.length) doubted.clear();
  setOff($("right"), !isRead || doubted.size > 0);
  setOff($("wrong"), !isRead);
  $("wrong").classList.toggle("primary", doubted.size > 0);
  setOff($("unread"), !isNew || tray.status === "old"); // the game has taken it
  redraw($("seen"), [tray.frame, seen.map(({ colour, value }) => [colour, value])], () => seen.map(seenDie));
  if (isOn) setText($("rolls-said"), rollText(tray, isNew, isRead));
  else if (isOver) setText($("rolls-said"), report());
}

/** Draw a die as read; tapping marks it as wrong. */
function seenDie({ colour, value }, n) {
  const button = el(
    "button",
    {
      type: "button",
      class: "rolled-die",
      "aria-pressed": "false",
      "aria-label": t("setup.doubt", { die: dieName({ colour, value }) }),
    },
    die(colour, value),
  );
  button.addEventListener("click", () => {
    if (!doubted.delete(n)) doubted.add(n);
    setAttribute(button, "aria-pressed", String(doubted.has(n)));
    drawRolls(latest());
  });
  return button;
}

function rollText(tray, isNew, isRead) {
  const roll = { number: done() + 1, count: ROLLS };
  if (isRead) return t("setup.roll_read", roll);
  const isThrown = isNew || ["moving", "reading"].includes(tray.status);
  return isThrown && tray.text ? `${t("setup.roll_number", roll)} ${tray.text}` : t("setup.roll", roll);
}

function report() {
  const { right, wrong, unread, missed } = rolls;
  const dice = Object.entries(missed).map(([colour, count]) => `${count}\u00a0× ${t(`colour.${colour}`)}`);
  const advice = wrong
    ? t("setup.advice_wrong")
    : unread > 2
      ? t("setup.advice_unread")
      : t("setup.advice_none");
  return [
    t("setup.report", { total: ROLLS, right, wrong, unread }),
    dice.length ? t("setup.report_dice", { dice: dice.join(", ") }) : "",
    advice,
  ]
    .filter(Boolean)
    .join(" ");
}
