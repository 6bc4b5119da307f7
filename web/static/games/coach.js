// The coach's part of a game: curves at once, luck, skill and turning points when they are computed.
import { $, el, redraw, setText, show } from "../lib/dom.js";
import { get } from "../lib/live.js";
import { t } from "../lib/words.js";

const ASK_AGAIN_MS = 500;
const RETRY_MS = 3_000; // the table may be quiet for long
let shown = null; // what the section is about; a change of it asks anew

/** Show what the coach knows about a game, and ask again until that is all. */
export async function drawCoach(game) {
  const about = JSON.stringify([game.number, game.over, game.rolls, game.sheets]);
  if (about === shown || !game.rolls.length) return;
  shown = about;
  const isAnswered = await follow(
    game.number,
    () => about === shown,
    (coached) => draw(coached, game.over),
  );
  if (!isAnswered && about === shown) shown = null; // the next snapshot asks again
}

/** Ask about a game until the coach knows all or nobody wants it; return whether there was an answer to draw. */
export async function follow(number, isWanted, draw) {
  for (;;) {
    const answer = await get(`/api/coach?number=${number}`);
    if (!isWanted()) return true;
    if (answer !== null) {
      if (!answer.ok) return false;
      draw(answer.data);
      if (answer.data.share >= 1) return true;
    }
    await new Promise((done) => setTimeout(done, answer === null ? RETRY_MS : ASK_AGAIN_MS));
  }
}

function draw({ share, scores, luck, turning, mistakes }, isOver) {
  show($("coach"), true);
  chart($("coach-scores"), scores);
  show($("coach-luck"), luck !== null);
  if (luck !== null) chart($("coach-luck"), luck);
  show($("coach-busy"), isOver && share < 1);
  setText($("coach-progress"), t("games.coach_busy", { percent: Math.round(share * 100) }));
  $("coach-share").value = share;
  show($("coach-told"), luck !== null);
  lines($("coach-turning"), turning);
  lines($("coach-better"), mistakes);
}

/** Draw a picture of the server with its sentences. */
export function chart(figure, picture) {
  redraw(figure, picture, () => [
    el("figcaption", { text: picture.title }),
    document.importNode(new DOMParser().parseFromString(picture.svg, "image/svg+xml").documentElement, true),
    el("ul", { class: "lines", "aria-hidden": "true" }, ...picture.lines.map((text) => el("li", { text }))),
  ]);
}

function lines(list, texts) {
  redraw(list, texts, () => texts.map((text) => el("li", { text })));
}
