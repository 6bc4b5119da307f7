// A game roll by roll: the dice, the picture if one is kept, what everybody crossed, and all sheets.
import { rollOf } from "../lib/dice.js";
import { $, el, redraw, setAttribute, setOff, setText, show } from "../lib/dom.js";
import { get } from "../lib/live.js";
import { miniSheet } from "../lib/mini-sheet.js";
import { numeral, t } from "../lib/words.js";

let game = null;
let at = 0; // which roll is shown, from 1; with the last one, the sheets at the end
const sheetsAfter = new Map(); // by roll, as the server sent them

/** Show a game, at its end unless a turn was chosen, here or by the address. */
export function drawSteps(shown) {
  if (game === null) at = rollInAddress(shown);
  const wasAtEnd = game === null ? at === 0 : at === game.rolls.length;
  game = shown;
  sheetsAfter.clear();
  show($("steps"), game.rolls.length > 0);
  $("step").max = String(game.rolls.length);
  void showRoll(wasAtEnd ? game.rolls.length : at);
}

/** Return which roll the address names by its turn, from 1; 0 for none. */
function rollInAddress({ rolls }) {
  const turn = Number(/^#turn-(\d+)$/.exec(location.hash)?.[1] ?? 0);
  return turn && rolls.filter((roll) => roll.turn < turn).length + 1;
}

/** Show a chosen roll; the address keeps its turn for whoever comes back to the page. */
function chooseRoll(number) {
  void showRoll(number);
  const { turn } = game.rolls[at - 1];
  history.replaceState(null, "", at < game.rolls.length ? `#turn-${turn}` : location.pathname + location.search);
}

async function showRoll(number) {
  const most = game.rolls.length;
  at = Math.min(Math.max(number, 1), most);
  const played = game.rolls[at - 1];
  $("step").value = String(at);
  setOff($("step-back"), at <= 1);
  setOff($("step-on"), at >= most);
  if (played) drawTurn(played, game.rolls[most - 1].turn);
  const sheets = at >= most ? game.sheets : await sheetsOf(at, played.turn);
  if (sheets) drawSheets(sheets, played, at >= most);
}

function drawTurn({ turn, name, roll, marks, miss, open, picture }, most) {
  const title = t("games.step", { turn, most, name });
  // the slider tells its own value
  setAttribute($("step-title"), "aria-live", document.activeElement === $("step") ? "off" : "polite");
  setText($("step-title"), title);
  $("step").setAttribute("aria-valuetext", title);
  redraw($("step-dice"), roll, () => rollOf({ roll, dice: Object.keys(roll.colour) }));
  const lines = marks.map((mark) => t(`games.mark.${mark.action}`, { name: mark.name, box: mark.text }));
  if (miss) lines.push(t("games.mark.miss", { name }));
  if (!lines.length && !open) lines.push(t("games.mark.none"));
  redraw($("step-marks"), lines, () => lines.map((text) => el("li", { text })));
  show($("step-picture"), game.rolls.some((each) => each.picture !== null)); // keeps its place
  $("step-picture").classList.toggle("is-missing", picture === null);
  if (picture !== null) {
    $("step-picture").src = `/api/picture.jpg?revision=${picture}`;
    $("step-picture").alt = t("games.picture", { turn });
  }
}

/** Return everybody's sheets after a roll and its turn; null if another one was chosen meanwhile. */
async function sheetsOf(number, turn) {
  if (!sheetsAfter.has(number)) {
    const answer = await get(`/api/game?number=${game.number}&turn=${turn}`);
    if (!answer?.ok) return null;
    sheetsAfter.set(number, answer.data.sheets);
  }
  return number === at ? sheetsAfter.get(number) : null;
}

function drawSheets(sheets, played, isEnd) {
  setText($("h-sheets"), isEnd ? t("games.sheets") : t("games.sheets_after", { turn: played.turn }));
  redraw($("sheets"), [sheets, at], () =>
    sheets.map((sheet) => {
      const own = (played?.marks ?? []).filter((mark) => mark.name === sheet.name);
      const aside = `${numeral(sheet.total)} · ${t("games.misses", { count: sheet.misses })}`;
      return miniSheet(sheet, aside, new Set(own.map((mark) => mark.token)));
    }),
  );
}

$("step").addEventListener("input", (event) => chooseRoll(Number(event.target.value)));
$("step-back").addEventListener("click", () => chooseRoll(at - 1));
$("step-on").addEventListener("click", () => chooseRoll(at + 1));
addEventListener("hashchange", () => game && showRoll(rollInAddress(game) || game.rolls.length));
