// Whoever threw taps what a die shows: one that the camera cannot read, or one that they tapped to correct it.
import { die } from "../lib/dice.js";
import { pressButton, redraw, restBriefly, setAttribute, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { capital, t, term } from "../lib/words.js";

let tapped = null; // the colour and value of the die to correct

const isTapped = ({ colour, value, in_tray }) => in_tray && colour === tapped.colour && value === tapped.value;

/** The dice that are asked about; of two alike, it does not matter which was tapped. */
const openDice = ({ dice }) => (tapped ? dice.filter(isTapped).slice(0, 1) : dice.filter((each) => each.doubtful));

/** Forget the tapped die if it is not offered any more. */
export function keepTapped({ confirmable, dice }) {
  if (tapped && !(confirmable && dice.some(isTapped))) tapped = null;
}

/** Return the colour of the tapped die, or null. */
export const tappedColour = () => tapped?.colour ?? null;

/** Return the question; one of two white dice may be read or told already. */
export function questionAbout(colour, tray) {
  const open = openDice(tray);
  const known = tray.dice.find((each) => each.in_tray && each.colour === colour && !open.includes(each));
  if (known) return t("say.doubt.other", { value: known.value });
  return tapped ? t("say.which") : t("say.doubt", { die: term(`die.${colour}`) });
}

/** Draw six faces to tap; `tell` gets the body of a request, and says what became of it. */
export function drawDoubt(root, colour, tray, tell) {
  const question = colour && questionAbout(colour, tray);
  setAttribute(root, "aria-label", question);
  show(root, colour !== null);
  redraw(root, [question, colour], () => {
    restBriefly(root.parentElement); // a tap on its way was meant for what was there
    return colour === null ? [] : [1, 2, 3, 4, 5, 6].map((value) => face(colour, value, tell));
  });
}

function face(colour, value, tell) {
  const button = pressButton({ "aria-label": value }, () => {
    const { tray } = latest();
    const dice = openDice(tray).filter((each) => each.colour === colour);
    const [x, y] = (dice.find((each) => each.value === value) ?? dice[0]).centre;
    tapped = null;
    return tell({ frame: tray.frame, x, y, value, colour });
  });
  button.append(die(colour, value));
  return button;
}

/** Give a die of the offered roll a place in which a tap on it asks what it shows; `onTap` draws the question. */
export const correctable = (onTap) => (colour, value) => {
  // no box of a sheet is named like it
  const name = `${capital(t(`die.${colour}`))}: ${value}`;
  const button = pressButton({ class: `place is-${colour}`, "aria-label": name }, () => {
    tapped = { colour, value };
    onTap();
  });
  const picture = die(colour, value);
  picture.setAttribute("aria-hidden", "true");
  button.append(picture);
  return button;
};
