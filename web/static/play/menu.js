// The player's menu: language, other pages, leaving early.
import { staysAwake } from "../lib/awake.js";
import { $, disableBriefly, onPress, setText, show, setTextAnew } from "../lib/dom.js";
import { latest, newKey, post, reasonOf } from "../lib/live.js";
import { t } from "../lib/words.js";

let leaving = null; // the seat to leave

/** @param whose returns the player whose sheet is shown */
export function offerMenu(whose) {
  $("menu").addEventListener("click", () => {
    const { game, me } = latest();
    const { seat, name } = whose();
    leaving = seat;
    setText($("menu-leave"), me.seats.length > 1 ? t("menu.leave_of", { name }) : t("menu.leave"));
    show($("menu-leave"), !game.over);
    setText($("menu-why"), "");
    show($("menu-awake"), !game.over && !staysAwake());
    askLeave(false);
    $("more").showModal();
  });
  $("menu-close").addEventListener("click", closeMenu);
  $("more").addEventListener("close", () => {
    if (!$("over").hidden) $("over").focus({ preventScroll: true }); // the button that opened it lies behind
  });
  $("menu-leave").addEventListener("click", () => askLeave(true));
  $("menu-stay").addEventListener("click", () => {
    askLeave(false);
    $("menu-leave").focus();
  });
  onPress($("menu-go"), () => leave(leaving));
}

/** Close the menu if its player no longer has a seat on this device. */
export function keepMenu(seats) {
  if (!seats.includes(leaving)) closeMenu();
}

function closeMenu() {
  $("more").close();
}

function askLeave(is) {
  show($("menu-ask"), is);
  show($("menu-rest"), !is);
  setText($("menu-title"), is ? $("menu-leave").textContent : t("menu.title"));
  if (!is) return;
  disableBriefly($("menu-go"));
  $("menu-stay").focus();
}

async function leave(seat) {
  const answer = await post("/api/leave", { seat, from_game: true, key: newKey() });
  setTextAnew($("menu-why"), reasonOf(answer));
  if (answer?.ok) closeMenu();
}
