// Buttons of screens that show a picture, and the one that fills the screen with the page.
import { $, setAttribute, show } from "./dom.js";
import { t } from "./words.js";

/** Name a button that shows a picture. */
export function nameButton(button, text) {
  setAttribute(button, "aria-label", text);
  setAttribute(button, "title", text);
}

const draw = () =>
  nameButton($("fullscreen"), t(document.fullscreenElement ? "table.fullscreen_end" : "table.fullscreen"));

/** Offer the button where the browser can. */
export function offerFullScreen() {
  draw();
  show($("fullscreen"), Boolean(document.fullscreenEnabled));
  $("fullscreen").addEventListener("click", async () => {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await document.documentElement.requestFullscreen().catch(() => {}); // the browser may refuse
  });
  document.addEventListener("fullscreenchange", draw);
}
