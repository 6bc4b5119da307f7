// Entering a roll by hand: six faces for each die in play.
import { die } from "./dice.js";
import { el, redraw } from "./dom.js";
import { capital, t } from "./words.js";

/** Colours in the form: those rolled while an action is open, else those in play. */
const coloured = (game) => (game?.action ? Object.keys(game.roll.colour) : (game?.dice ?? []));

/** Draw a line of six faces for each die. */
export function drawFaces(root, game) {
  const places = [
    ["white-1", "white", t("dice.white1")],
    ["white-2", "white", t("dice.white2")],
  ];
  for (const colour of coloured(game)) places.push([colour, colour, capital(t(`colour.${colour}`))]);
  redraw(root, [places, game?.turn, game?.number], () =>
    places.map(([name, colour, label]) => line(name, colour, label)),
  );
}

function line(name, colour, label) {
  const choices = [1, 2, 3, 4, 5, 6].map((value) => {
    const face = die(colour, value);
    face.removeAttribute("role");
    face.removeAttribute("aria-label");
    face.setAttribute("aria-hidden", "true");
    return el(
      "label",
      {},
      el("input", { type: "radio", name, value, "aria-label": `${label} ${value}` }),
      face,
    );
  });
  return el(
    "fieldset",
    { class: `faces is-${colour}` },
    el("legend", { text: label }),
    el("div", {}, ...choices),
  );
}

/** Return the form's roll and turn for the server, or null while a die has no value. */
export function chosenRoll(form, game) {
  const data = new FormData(form);
  const white = [Number(data.get("white-1") ?? 0), Number(data.get("white-2") ?? 0)];
  const colour = Object.fromEntries(coloured(game).map((each) => [each, Number(data.get(each) ?? 0)]));
  return [...white, ...Object.values(colour)].includes(0)
    ? null
    : { white, colour, game: game.number, turn: game.turn };
}
