// The host's dice: what was rolled, one die put right, all of them entered by hand.
import { ask, does, foresee, press, takeForeseen } from "./ask.js";
import { die } from "./dice.js";
import { $, attribute, el, onPress, onSubmit, redraw, say, show } from "./dom.js";
import { chosenRoll, drawFaces } from "./faces.js";
import { now } from "./live.js";
import { t } from "./words.js";

const LIKELY = { 1: [3, 2, 5, 4, 6], 2: [3, 4, 1, 6, 5], 3: [5, 2, 1, 4, 6], 4: [5, 6, 2, 3, 1], 5: [3, 4, 6, 1, 2], 6: [4, 5, 2, 3, 1] };
const READ = new Set(["ok", "uncertain", "cocked", "extra", "missing"]);
const COLOURS = ["white", "red", "yellow", "green", "blue"];
const SURE = 0.9;
let asked = /^#die=\d+$/.test(location.hash) ? Number(location.hash.slice(5)) : null;
// LIKELY: what a face is most easily taken for: a pip lost in glare, one that a shadow adds

export function drawDice({ game, tray, table, announcement }) {
  const isOpen = (game?.action ?? 0) > 0;
  say($("tray-text"), isOpen ? "" : tray.text);
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button && !table.typed_rolls);
  $("throw").disabled = isOpen;
  $("confirm").disabled = game?.phase !== "roll";
  $("confirm").classList.toggle("primary", tray.confirmable);
  $("throw").classList.toggle("primary", game?.phase === "roll" && !tray.confirmable);
  say($("said"), announcement?.text ?? "");
  const isRead = game?.phase === "roll" && !table.typed_rolls && READ.has(tray.status);
  const dice = isOpen ? rolled(game) : isRead ? tray.dice.filter((each) => each.in_tray) : [];
  show($("rolled-lead"), dice.length > 0);
  show($("reoffer"), game?.phase === "roll" && tray.status === "old");
  redraw($("rolled"), [dice, isOpen, game?.turn], () => dice.map((each) => dieButton(each, isOpen ? correct : tell)));
  const isDue = game?.phase === "roll";
  show($("roll-form"), isDue || isOpen);
  say($("roll-lead"), t(isDue ? "host.roll_lead" : isOpen ? "host.correct_lead" : "host.roll_later"));
  say($("enter"), t(isOpen ? "host.correct" : "host.enter"));
  drawFaces($("faces"), game);
  if (isDue && table.typed_rolls) $("by-hand").open = true;
  if (asked !== null) openAsked(dice, tray, isOpen);
}

/** A die that was tapped on the table view: its question at once, and back when it is answered. */
function openAsked(dice, tray, isOpen) {
  const tapped = tray.dice[asked];
  const at = dice.findIndex((each) => (isOpen ? each.colour === tapped?.colour && each.value === tapped.value : each === tapped));
  asked = null;
  history.replaceState(null, "", location.pathname);
  if (at < 0) return;
  $("rolled").children[at].click();
  $("ask").addEventListener("close", () => history.back(), { once: true });
}

/** The dice of the roll: a place in it, colour and value. */
function rolled({ roll }) {
  const white = roll.white.map((value, i) => ({ place: i, colour: "white", value }));
  return [...white, ...Object.entries(roll.colour).map(([colour, value]) => ({ place: null, colour, value }))];
}

const nameOf = (colour, value) =>
  t("die", { colour: colour ? t(`colour.${colour}`) : t("table.unreadable"), value: value ?? t("table.unreadable") });

function dieButton(each, does) {
  const label = nameOf(each.colour, each.value);
  const shown = each.value === null || each.colour === null ? el("span", { class: "unread", text: "?" }) : die(each.colour, each.value);
  const isDoubtful = each.confidence !== undefined && !each.by_hand && (each.cocked || each.confidence < SURE);
  const button = el("button", { type: "button", class: `rolled-die${isDoubtful ? " is-doubtful" : ""}`, "aria-label": t("host.correct_die", { die: label }) }, shown);
  button.addEventListener("click", () => does(each, label));
  return button;
}

/** Six faces to choose from, the likely ones first. */
function faces(colour, value, does) {
  return (LIKELY[value] ?? [1, 2, 3, 4, 5, 6]).map((face) => pick(die(colour, face), nameOf(colour, face), () => does(face)));
}

function pick(shown, label, does) {
  const choice = el("button", { type: "button", class: "rolled-die", "aria-label": label, "aria-pressed": "false" }, shown);
  choice.addEventListener("click", () => {
    for (const other of $("ask-choices").children) attribute(other, "aria-pressed", String(other === choice));
    does();
  });
  return choice;
}

/** Whether the confirmed roll is still the one it is now, with the same dice. */
function stillRolled() {
  const roll = () => JSON.stringify([now().game?.rolled, now().game?.roll]);
  const then = roll();
  return () => roll() === then;
}

/** A die of the confirmed roll. */
function correct(each, label) {
  const choices = faces(each.colour, each.value, (value) => choose(each, value));
  ask({ title: t("host.which", { die: label }), yes: t("host.correct"), does: null, choices, isStill: stillRolled() });
}

/** A die of the reading, before it is confirmed; one without a colour is asked for that first. */
function tell(each, label, colour = each.colour) {
  const { frame } = now().tray;
  const [x, y] = each.centre;
  const fix = (value) => () => press("/api/die", { frame, x, y, value, colour }, "ask-why");
  const choices = colour
    ? [...faces(colour, each.value, (value) => offer(fix(value))), ...(each.value && !each.by_hand ? [pick(die(colour, each.value), nameOf(colour, each.value), () => offer(fix(each.value)))] : [])]
    : COLOURS.map((other) => pick(die(other), t(`colour.${other}`), () => tell(each, label, other)));
  ask({ title: t("host.which", { die: label }), yes: t("host.correct_one"), does: null, choices });
}

function offer(doing) {
  does(doing);
  show($("ask-yes"), true);
}

function choose({ place, colour }, value) {
  const { white, colour: of } = now().game.roll;
  const roll = {
    white: white.map((old, i) => (i === place ? value : old)),
    colour: { ...of, ...(place === null ? { [colour]: value } : {}) },
  };
  const what = { what: "correct", ...roll };
  does(() => takeForeseen("/api/correct", roll, what));
  show($("ask-yes"), false); // until what this face would change is there
  void foresee(what);
}

onPress($("reoffer"), () => press("/api/reoffer"));
onSubmit($("roll-form"), async (event) => {
  const { game } = now();
  const roll = chosenRoll(event.target, game);
  if (roll === null) return say($("roll-why"), t("host.roll_missing"));
  say($("roll-why"), "");
  if (!game.action) return press("/api/roll", roll, "roll-why");
  const what = { what: "correct", ...roll };
  ask({ title: t("host.correct"), yes: t("host.correct"), does: () => takeForeseen("/api/correct", roll, what), isStill: stillRolled() });
  void foresee(what);
});

