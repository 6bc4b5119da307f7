// This device's own settings: the language, which the server keeps for each browser, and the colours.
import { $ } from "./dom.js";
import { post } from "./live.js";

const THEME = "dice_companion_theme"; // the cookie that the server makes its pages by
const MONTH_S = 30 * 24 * 3600;

export function offerDevice() {
  $("language").addEventListener("change", async (event) => {
    const answer = await post("/api/language", { language: event.target.value || null });
    if (answer?.ok) location.reload();
    else $("device-form").reset();
  });
  $("theme").addEventListener("change", (event) => chooseTheme(event.target.value));
}

/** Show light or dark pages from now on, or with "" those that the device prefers. */
export function chooseTheme(theme) {
  document.cookie = `${THEME}=${theme}; Path=/; Max-Age=${theme ? MONTH_S : 0}; SameSite=Lax`;
  location.reload();
}
