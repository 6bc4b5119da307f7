// Whoever threw taps what a die shows: one that is hard to read, or one that they tapped.
import { die } from "../lib/dice.js";
import { pressButton, redraw, restBriefly, setAttribute, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { capital, t, term } from "../lib/words.js";

let tapped = {}; // the colour and value of the die to correct, told or not

const isTapped = ({ colour, value, in_tray }) => in_tray && colour === tapped.colour && value === tapped.value;

/** The dice that are asked about; of two alike either will do. */
const openDice = ({ dice }) => (tapped.colour ? [dice.find(isTapped)] : dice.filter((each) => each.doubtful));

/** Forget a tapped die that was told, or is no longer offered. */
export function keepTapped({ confirmable, dice }) {
  if (tapped.told || !confirmable || !dice.some(isTapped)) tapped = {};
}

/** Return the colour of the tapped die, or null. */
export const tappedColour = () => tapped.colour ?? null;

/** Return the question; of two white dice, one may be known. */
export function questionAbout(colour, tray) {
  const open = openDice(tray);
  const known = tray.dice.find((each) => each.in_tray && each.colour === colour && !open.includes(each));
  if (known) return t("say.doubt.other", { value: known.value });
  return tapped.colour ? t("say.which") : t("say.doubt", { die: term(`die.${colour}`) });
}

/** Draw six faces to tap; `tell` sends a request's body: true if it was taken. */
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
  const button = pressButton({ "aria-label": value }, async () => {
    const { tray } = latest();
    const dice = openDice(tray).filter((each) => each.colour === colour);
    const [x, y] = (dice.find((each) => each.value === value) ?? dice[0]).centre;
    const asked = tapped;
    asked.told = true;
    asked.told = await tell({ frame: tray.frame, x, y, value, colour }); // else it stays open
  });
  button.append(die(colour, value));
  return button;
}

/** Place a die of the offered roll: a tap asks what it shows, and `onTap` draws that. */
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
