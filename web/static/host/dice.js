// The host's dice: the roll, correcting one die, entering all of them.
import { openDialog, preview, request, setAction, takeNow, takePreviewed } from "./dialog.js";
import { die } from "../lib/dice.js";
import {
  $,
  el,
  focusOn,
  onPress,
  onSubmit,
  redraw,
  restBriefly,
  setAttribute,
  setText,
  show,
  setTextAnew,
} from "../lib/dom.js";
import { chosenRoll, drawFaces } from "../lib/faces.js";
import { latest } from "../lib/live.js";
import { countedDice, READ } from "../lib/overlay.js";
import { colourName, dieName, t } from "../lib/words.js";
import { openPart } from "./tabs.js";

const FACES = [1, 2, 3, 4, 5, 6];
const COLOURS = ["white", "red", "yellow", "green", "blue"];
let asked = askedDie(); // index of a die tapped in the tray's picture
let isFromTable = asked !== null;
const filledIn = new Set(); // lines of the form that the host filled in

function askedDie() {
  return /^#die=\d+$/.test(location.hash) ? Number(location.hash.slice(5)) : null;
}

addEventListener("hashchange", () => {
  asked = askedDie();
  if (asked !== null && latest()) drawDice(latest());
});

/** Draw the bar's buttons: the next step is primary, Undo beside it.
 * After a game it is to play again, unless another kind of game is chosen. */
export function drawBar({ game, tray, table }, isAsBefore) {
  const isRoll = game?.phase === "roll";
  const isOver = game?.over ?? false;
  const isOpen = (game?.action ?? 0) > 0;
  const canConfirm = isRoll && table.on_screen_button && !table.typed_rolls;
  show($("start"), game === null || isOver);
  show($("rematch"), isOver && isAsBefore);
  $("start").classList.toggle("primary", !(isOver && isAsBefore));
  show($("throw"), isRoll && table.can_throw && !table.typed_rolls);
  show($("confirm"), canConfirm);
  $("confirm").classList.toggle("primary", canConfirm && tray.confirmable);
  $("throw").classList.toggle("primary", isRoll && !tray.confirmable);
  show($("by-hand-open"), isRoll && table.typed_rolls);
  show($("close"), isOpen && game.waiting_for.length > 0);
  show($("undo"), game !== null);
}

export function drawDice(state) {
  const { game, tray, table, faults, announcement } = state;
  const isOpen = (game?.action ?? 0) > 0;
  const isFault = faults.some(({ part, code }) => part === "camera" && code === tray.status);
  setText($("tray-text"), isOpen || isFault ? "" : tray.text); // a fault is shown on top
  const said = announcement?.kind === "refused" ? null : announcement;
  redraw($("said"), [said?.number, said?.text], () => (said ? [said.text] : [])); // the same once more is read out anew
  const isRead = game?.phase === "roll" && !table.typed_rolls && READ.has(tray.status);
  const dice = isOpen ? rolled(game) : isRead ? tray.dice.filter((each) => each.in_tray) : [];
  show($("rolled-lead"), dice.length > 0);
  show($("reoffer"), game?.phase === "roll" && tray.status === "old");
  redraw($("rolled"), [dice, isOpen, game?.turn], () =>
    dice.map((each) => dieButton(each, isOpen ? correct : tell)),
  );
  const isDue = game?.phase === "roll";
  show($("roll-form"), isDue || isOpen);
  setText($("roll-lead"), t(isDue ? "host.roll_lead" : isOpen ? "host.correct_lead" : "host.roll_later"));
  setText($("enter"), t(isOpen ? "host.correct" : "host.enter"));
  drawFaces($("faces"), game);
  if (isDue || isOpen) fillIn(dice, game);
  if (isDue && table.typed_rolls) $("by-hand").open = true;
  if (asked !== null) openAsked(dice, state, isOpen);
}

/** Fill the form with the confirmed roll, or with what the camera reads now, but for dice in doubt.
 * Lines that the host filled in stay, and no line has the die of another one: white dice have no order. */
function fillIn(dice, { number, turn, rolled: since }) {
  const form = $("roll-form");
  const due = `${number} ${turn} ${since}`;
  if (form.dataset.due !== due) filledIn.clear();
  form.dataset.due = due;
  for (const colour of COLOURS) {
    const lines = [...form.querySelectorAll(`fieldset.is-${colour}`)];
    const lying = dice.filter((each) => each.colour === colour);
    const read = lying.length > lines.length ? [] : lying.filter(({ doubtful }) => !doubtful);
    const left = read.map(({ value }) => value); // of dice that no line has yet
    const takeDie = (line) => {
      const at = left.indexOf(Number(line.querySelector(":checked")?.value));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    };
    const isOwn = (line) => filledIn.has(line.querySelector("input").name);
    lines.filter(isOwn).forEach(takeDie);
    const open = lines.filter((line) => !isOwn(line) && !takeDie(line));
    open.forEach((line, n) => check(line, left.length > open.length ? undefined : left[n]));
  }
}

function check(line, value) {
  for (const choice of line.querySelectorAll("input")) {
    const is = Number(choice.value) === value;
    if (choice.checked === is) continue;
    choice.checked = is;
    restBriefly($("enter")); // a tap on its way was meant for the dice before
  }
}

/** Open the question for a die tapped in the picture; go back if that was on the table view. */
function openAsked(dice, state, isOpen) {
  const centre = String(state.tray.dice[asked]?.centre);
  const tapped = countedDice(state.tray, state.game).find((each) => String(each.centre) === centre);
  const at = dice.findIndex((each) =>
    isOpen ? each.colour === tapped?.colour && each.value === tapped.value : String(each.centre) === centre,
  );
  asked = null;
  history.replaceState(null, "", location.pathname);
  if (at < 0) return;
  $("rolled").children[at].click();
  if (isFromTable) $("ask").addEventListener("close", () => history.back(), { once: true });
  isFromTable = false;
}

/** List the roll's dice with position, colour and value. */
function rolled({ roll }) {
  const white = roll.white.map((value, i) => ({ place: i, colour: "white", value }));
  return [...white, ...Object.entries(roll.colour).map(([colour, value]) => ({ place: null, colour, value }))];
}

function dieButton(each, onTap) {
  const label = dieName(each);
  const shown =
    each.value === null || each.colour === null
      ? el("span", { class: "unread", text: "?" })
      : die(each.colour, each.value);
  const button = el(
    "button",
    {
      type: "button",
      class: `rolled-die${each.doubtful ? " is-doubtful" : ""}`,
      "aria-label": t("dice.correct", { die: label }),
    },
    shown,
  );
  button.addEventListener("click", () => onTap(each, label));
  return button;
}

/** Draw faces to choose from, in order. */
function faces(colour, values, onPick) {
  return values.map((value) => pick(die(colour, value), dieName({ colour, value }), () => onPick(value)));
}

function pick(shown, label, onPick) {
  const choice = el(
    "button",
    { type: "button", class: "rolled-die", "aria-label": label, "aria-pressed": "false" },
    shown,
  );
  choice.addEventListener("click", () => {
    for (const other of $("ask-choices").children)
      setAttribute(other, "aria-pressed", String(other === choice));
    onPick();
  });
  return choice;
}

/** Return a check that the confirmed roll has not changed since. */
function stillRolled() {
  const then = latest().game?.rolled;
  return () => latest().game?.rolled === then;
}

/** Correct a die of the confirmed roll. */
function correct(each, label) {
  const others = FACES.filter((value) => value !== each.value);
  const choices = faces(each.colour, others, (value) => choose(each, value));
  openDialog({
    title: t("say.which", { die: label }),
    yes: t("host.correct"),
    onYes: null,
    choices,
    isStill: stillRolled(),
  });
}

/** Set a die of the reading before it is confirmed; ask for its colour first if it has none. */
function tell(each, label, colour = each.colour) {
  const { frame } = latest().tray;
  const [x, y] = each.centre;
  const values = FACES.filter((value) => value !== each.value || !each.by_hand);
  const choices = colour
    ? faces(colour, values, (value) => takeNow("/api/die", { frame, x, y, value, colour }))
    : COLOURS.map((other) => pick(die(other), colourName(other), () => tell(each, label, other)));
  openDialog({ title: t("say.which", { die: label }), yes: "", onYes: null, choices });
}

function choose({ place, colour }, value) {
  const { white, colour: of } = latest().game.roll;
  const roll = {
    white: white.map((old, i) => (i === place ? value : old)),
    colour: { ...of, ...(place === null ? { [colour]: value } : {}) },
  };
  const what = { what: "correct", ...roll };
  setAction(() => takePreviewed("/api/correct", roll, what));
  show($("ask-yes"), false); // until the preview has arrived
  void preview(what);
}

onPress($("by-hand-open"), () => {
  openPart("now");
  $("by-hand").open = true;
  $("by-hand").scrollIntoView({ block: "start" });
  focusOn($("by-hand").querySelector("summary"));
});
$("roll-form").addEventListener("change", ({ target }) => filledIn.add(target.name));
onPress($("reoffer"), () => request("/api/reoffer"));
onSubmit($("roll-form"), async (event) => {
  const { game } = latest();
  const roll = chosenRoll(event.target, game);
  if (roll === null) return setTextAnew($("roll-why"), t("dice.missing"));
  setText($("roll-why"), "");
  if (!game.action) {
    await request("/api/roll", roll, "roll-why");
    return;
  }
  const what = { what: "correct", ...roll };
  openDialog({
    title: t("host.correct"),
    yes: t("host.correct"),
    onYes: () => takePreviewed("/api/correct", roll, what),
    isStill: stillRolled(),
  });
  void preview(what);
});
