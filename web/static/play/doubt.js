// A die that the camera cannot read: whoever throws taps what it shows.
import { die } from "../lib/dice.js";
import { pressButton, redraw, restBriefly, setAttribute, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { t, term } from "../lib/words.js";

const doubtful = ({ dice }) => dice.filter((each) => each.doubtful);

/** Return the question; one of two white dice may be read or told already. */
export function questionAbout(colour, { dice }) {
  const known = dice.find((each) => each.in_tray && each.colour === colour && !each.doubtful);
  return known ? t("say.doubt.other", { value: known.value }) : t("say.doubt", { die: term(`die.${colour}`) });
}

/** Draw six faces to tap; `tell` gets the body of a request, and says what became of it. */
export function drawDoubt(root, colour, tray, tell) {
  const question = colour && questionAbout(colour, tray);
  setAttribute(root, "aria-label", question);
  show(root, colour !== null);
  redraw(root, question, () => {
    restBriefly(root.parentElement); // a tap on its way was meant for what was there
    return colour === null ? [] : [1, 2, 3, 4, 5, 6].map((value) => face(colour, value, tell));
  });
}

function face(colour, value, tell) {
  const button = pressButton({ "aria-label": value }, () => {
    const { tray } = latest();
    const dice = doubtful(tray).filter((each) => each.colour === colour);
    const [x, y] = (dice.find((each) => each.value === value) ?? dice[0]).centre;
    return tell({ frame: tray.frame, x, y, value, colour });
  });
  button.append(die(colour, value));
  return button;
}
