// What a player seldom needs in a game: the page's language, the other pages, and going home early.
import { $, holdBack, onPress, say, show } from "./dom.js";
import { now, post } from "./live.js";
import { t } from "./words.js";

let leaving = null; // the seat that would be left

/** @param whose gives the player whose sheet is looked at */
export function offerMenu(whose) {
  $("menu").addEventListener("click", () => {
    const { game, me } = now();
    const { seat, name } = whose();
    leaving = seat;
    say($("menu-leave"), me.seats.length > 1 ? t("menu.leave_of", { name }) : t("menu.leave"));
    show($("menu-leave"), !game.over);
    say($("menu-why"), "");
    askLeave(false);
    $("more").showModal();
  });
  $("menu-close").addEventListener("click", closeMenu);
  $("menu-leave").addEventListener("click", () => askLeave(true));
  $("menu-stay").addEventListener("click", () => askLeave(false));
  onPress($("menu-go"), () => leave(leaving));
}

/** Close the menu of somebody who has no seat here any more. */
export function keepMenu(seats) {
  if (!seats.includes(leaving)) closeMenu();
}

function closeMenu() {
  $("more").close();
}

function askLeave(is) {
  show($("menu-ask"), is);
  show($("menu-rest"), !is);
  say($("menu-title"), is ? $("menu-leave").textContent : t("menu.title"));
  if (!is) return;
  holdBack($("menu-go")); // it may lie where "leave" was
  $("menu-stay").focus();
}

async function leave(seat) {
  const answer = await post("/api/leave", { seat, from_game: true });
  say($("menu-why"), answer === null ? t("why.unreachable") : answer.ok ? "" : (answer.data.message ?? t("why.unknown")));
  if (answer?.ok) closeMenu();
}
