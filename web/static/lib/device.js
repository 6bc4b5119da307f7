// This device's own settings: the language, which the server keeps for each browser, and the colours.
import { $ } from "./dom.js";
import { get, isPosting, postUntilAnswered } from "./live.js";

const THEME = "dice_companion_theme"; // the cookie that the server makes its pages by
const MONTH_S = 30 * 24 * 3600;
const BUSY_MS = 200;

export function offerDevice() {
  let asking = new AbortController();
  onChoice($("language"), async (language) => {
    asking.abort();
    const { signal } = (asking = new AbortController());
    const answer = await postUntilAnswered("/api/language", { language: language || null }, () => true, signal);
    if (answer?.ok) reload();
    else if (answer) $("device-form").reset();
  });
  onChoice($("theme"), chooseTheme);
}

/** Act on a choice. What an arrow key or a letter chooses may be on the way to another one:
 * it holds once the list is left, or by Enter. */
function onChoice(select, act) {
  let isByKey = false;
  let isDue = false;
  const end = () => {
    if (isDue) act(select.value);
    isDue = false;
  };
  select.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") return end(); // of an open list it is the choice
    isByKey = true;
    setTimeout(() => (isByKey = false)); // the choice in an open list comes later
  });
  select.addEventListener("change", () => {
    isDue = true;
    if (!isByKey) end();
  });
  select.addEventListener("blur", end);
}

/** Show light or dark pages from now on, or with "" those that the device prefers. */
export function chooseTheme(theme) {
  document.cookie = `${THEME}=${theme}; Path=/; Max-Age=${theme ? MONTH_S : 0}; SameSite=Lax`;
  reload();
}

/** Load the page anew once nobody types or waits for an answer, as whoever leaves a list may have begun already,
 * and the table answers: else only the browser's own page of an error would be left. */
async function reload() {
  const isBusy = isPosting() || document.activeElement?.matches(":read-write");
  if (isBusy || (await get("/api/state")) === null) setTimeout(reload, BUSY_MS);
  else location.reload();
}
