// The end of a game on a large screen: how it went, in turn with the result.
import { chart, follow } from "../games/coach.js";
import { $, el, redraw, show } from "../lib/dom.js";

const TURN_MS = 20_000;
const SCREEN = matchMedia("(min-width: 1200px) and (min-height: 640px)");

let number = null; // the finished game that the report is about
let isKnown = false; // whether there is a report of it

/** Follow the table; a game that was ended early has no report. */
export function followReport({ game }) {
  const finished = game?.over && game.winners.length && SCREEN.matches ? game.number : null;
  if (finished === number) return;
  number = finished;
  isKnown = false;
  turn();
  if (finished !== null) void follow(finished, () => number === finished, drawReport);
}

function drawReport({ share, scores, luck, turning }) {
  if (share < 1 || luck === null) return;
  chart($("report-scores"), scores);
  chart($("report-luck"), luck);
  redraw($("report-turning"), turning, () => turning.map((text) => el("li", { text })));
  isKnown = true;
}

/** Show the report in place of the result, or the result again. */
function turn() {
  const isNext = isKnown && SCREEN.matches && $("report").hidden;
  show($("report"), isNext);
  document.querySelector("main").classList.toggle("shows-report", isNext);
}

setInterval(turn, TURN_MS);
