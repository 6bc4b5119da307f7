// The host's dice: the roll, correcting one die, entering all of them.
import { openDialog, preview, request, setAction, takePreviewed } from "./dialog.js";
import { die } from "../lib/dice.js";
import { $, setAttribute, el, onPress, onSubmit, redraw, setText, show } from "../lib/dom.js";
import { chosenRoll, drawFaces } from "../lib/faces.js";
import { latest } from "../lib/live.js";
import { t } from "../lib/words.js";

// faces that each face is most easily mistaken for: a pip lost in glare or added by a shadow
const LIKELY = {
  1: [3, 2, 5, 4, 6],
  2: [3, 4, 1, 6, 5],
  3: [5, 2, 1, 4, 6],
  4: [5, 6, 2, 3, 1],
  5: [3, 4, 6, 1, 2],
  6: [4, 5, 2, 3, 1],
};
const READ = new Set(["ok", "uncertain", "cocked", "extra", "missing"]);
const COLOURS = ["white", "red", "yellow", "green", "blue"];
const SURE = 0.9;
let asked = /^#die=\d+$/.test(location.hash) ? Number(location.hash.slice(5)) : null;

export function drawDice({ game, tray, table, announcement }) {
  const isOpen = (game?.action ?? 0) > 0;
  setText($("tray-text"), isOpen ? "" : tray.text);
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button && !table.typed_rolls);
  $("throw").disabled = isOpen;
  $("confirm").disabled = game?.phase !== "roll";
  $("confirm").classList.toggle("primary", tray.confirmable);
  $("throw").classList.toggle("primary", game?.phase === "roll" && !tray.confirmable);
  setText($("said"), announcement?.text ?? "");
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
  if (isDue && table.typed_rolls) $("by-hand").open = true;
  if (asked !== null) openAsked(dice, tray, isOpen);
}

/** Open the question for a die tapped on the table view; go back when it is answered. */
function openAsked(dice, tray, isOpen) {
  const tapped = tray.dice[asked];
  const at = dice.findIndex((each) =>
    isOpen ? each.colour === tapped?.colour && each.value === tapped.value : each === tapped,
  );
  asked = null;
  history.replaceState(null, "", location.pathname);
  if (at < 0) return;
  $("rolled").children[at].click();
  $("ask").addEventListener("close", () => history.back(), { once: true });
}

/** List the roll's dice with position, colour and value. */
function rolled({ roll }) {
  const white = roll.white.map((value, i) => ({ place: i, colour: "white", value }));
  return [...white, ...Object.entries(roll.colour).map(([colour, value]) => ({ place: null, colour, value }))];
}

const nameOf = (colour, value) =>
  t("die", {
    colour: colour ? t(`colour.${colour}`) : t("table.unreadable"),
    value: value ?? t("table.unreadable"),
  });

function dieButton(each, does) {
  const label = nameOf(each.colour, each.value);
  const shown =
    each.value === null || each.colour === null
      ? el("span", { class: "unread", text: "?" })
      : die(each.colour, each.value);
  const isDoubtful = each.confidence !== undefined && !each.by_hand && (each.cocked || each.confidence < SURE);
  const button = el(
    "button",
    {
      type: "button",
      class: `rolled-die${isDoubtful ? " is-doubtful" : ""}`,
      "aria-label": t("host.correct_die", { die: label }),
    },
    shown,
  );
  button.addEventListener("click", () => does(each, label));
  return button;
}

/** Draw six faces to choose from, likely ones first. */
function faces(colour, value, does) {
  return (LIKELY[value] ?? [1, 2, 3, 4, 5, 6]).map((face) =>
    pick(die(colour, face), nameOf(colour, face), () => does(face)),
  );
}

function pick(shown, label, does) {
  const choice = el(
    "button",
    { type: "button", class: "rolled-die", "aria-label": label, "aria-pressed": "false" },
    shown,
  );
  choice.addEventListener("click", () => {
    for (const other of $("ask-choices").children)
      setAttribute(other, "aria-pressed", String(other === choice));
    does();
  });
  return choice;
}

/** Return a check that the confirmed roll has not changed since. */
function stillRolled() {
  const roll = () => JSON.stringify([latest().game?.rolled, latest().game?.roll]);
  const then = roll();
  return () => roll() === then;
}

/** Correct a die of the confirmed roll. */
function correct(each, label) {
  const choices = faces(each.colour, each.value, (value) => choose(each, value));
  openDialog({
    title: t("host.which", { die: label }),
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
  const fix = (value) => () => request("/api/die", { frame, x, y, value, colour }, "ask-why");
  const choices = colour
    ? [
        ...faces(colour, each.value, (value) => offer(fix(value))),
        ...(each.value && !each.by_hand
          ? [pick(die(colour, each.value), nameOf(colour, each.value), () => offer(fix(each.value)))]
          : []),
      ]
    : COLOURS.map((other) => pick(die(other), t(`colour.${other}`), () => tell(each, label, other)));
  openDialog({ title: t("host.which", { die: label }), yes: t("host.correct_one"), onYes: null, choices });
}

function offer(doing) {
  setAction(doing);
  show($("ask-yes"), true);
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

onPress($("reoffer"), () => request("/api/reoffer"));
onSubmit($("roll-form"), async (event) => {
  const { game } = latest();
  const roll = chosenRoll(event.target, game);
  if (roll === null) return setText($("roll-why"), t("host.roll_missing"));
  setText($("roll-why"), "");
  if (!game.action) return request("/api/roll", roll, "roll-why");
  const what = { what: "correct", ...roll };
  openDialog({
    title: t("host.correct"),
    yes: t("host.correct"),
    onYes: () => takePreviewed("/api/correct", roll, what),
    isStill: stillRolled(),
  });
  void preview(what);
});
