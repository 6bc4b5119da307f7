// The host's dice: what was rolled, one die put right, all of them entered by hand.
import { ask, does, foresee, press } from "./ask.js";
import { die } from "./dice.js";
import { $, attribute, el, redraw, say, show } from "./dom.js";
import { chosenRoll, drawFaces } from "./faces.js";
import { now } from "./live.js";
import { t } from "./words.js";

const LIKELY = { 1: [3, 2, 5, 4, 6], 2: [3, 4, 1, 6, 5], 3: [5, 2, 1, 4, 6], 4: [5, 6, 2, 3, 1], 5: [3, 4, 6, 1, 2], 6: [4, 5, 2, 3, 1] };
// what a face is most easily taken for: a pip lost in glare, one that a shadow adds

export function drawDice({ game, tray, table, announcement }) {
  const isOpen = (game?.action ?? 0) > 0;
  say($("tray-text"), isOpen ? "" : tray.text);
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button && !table.typed_rolls);
  $("throw").disabled = isOpen;
  $("confirm").disabled = game?.phase !== "roll";
  say($("said"), announcement?.text ?? "");
  const dice = isOpen ? rolled(game) : [];
  show($("rolled-lead"), dice.length > 0);
  redraw($("rolled"), [dice, game?.turn], () => dice.map(dieButton));
  const isDue = game?.phase === "roll";
  show($("roll-form"), isDue || isOpen);
  say($("roll-lead"), t(isDue ? "host.roll_lead" : isOpen ? "host.correct_lead" : "host.roll_later"));
  say($("enter"), t(isOpen ? "host.correct" : "host.enter"));
  drawFaces($("faces"), game);
  if (isDue && table.typed_rolls) $("by-hand").open = true;
}

/** The dice of the roll: a place in it, colour and value. */
function rolled({ roll }) {
  const white = roll.white.map((value, i) => ({ place: i, colour: "white", value }));
  return [...white, ...Object.entries(roll.colour).map(([colour, value]) => ({ place: null, colour, value }))];
}

function dieButton(each) {
  const label = t("die", { colour: t(`colour.${each.colour}`), value: each.value });
  const button = el("button", { type: "button", class: "rolled-die", "aria-label": t("host.correct_die", { die: label }) }, die(each.colour, each.value));
  button.addEventListener("click", () => correct(each, label));
  return button;
}

function correct(each, label) {
  const choices = LIKELY[each.value].map((value) => {
    const name = t("die", { colour: t(`colour.${each.colour}`), value });
    const choice = el("button", { type: "button", class: "rolled-die", "aria-label": name, "aria-pressed": "false" }, die(each.colour, value));
    choice.addEventListener("click", () => choose(choice, each, value));
    return choice;
  });
  ask({ title: t("host.which", { die: label }), yes: t("host.correct"), does: null, choices });
}

function choose(choice, { place, colour }, value) {
  for (const other of $("ask-choices").children) attribute(other, "aria-pressed", String(other === choice));
  const { white, colour: of } = now().game.roll;
  const roll = {
    white: white.map((old, i) => (i === place ? value : old)),
    colour: { ...of, ...(place === null ? { [colour]: value } : {}) },
  };
  does(() => press("/api/correct", roll, "ask-why"));
  void foresee({ what: "correct", ...roll });
}

$("roll-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const { game } = now();
  const roll = chosenRoll(event.target, game);
  if (roll === null) return say($("roll-why"), t("host.roll_missing"));
  say($("roll-why"), "");
  if (!game.action) return press("/api/roll", roll, "roll-why");
  ask({ title: t("host.correct"), yes: t("host.correct"), does: () => press("/api/correct", roll, "ask-why") });
  foresee({ what: "correct", ...roll });
});

