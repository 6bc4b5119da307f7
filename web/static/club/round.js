// The newest round, on the screen and on the organiser's page.
import { dayForm } from "../lib/dates.js";
import { $, el, redraw, setText } from "../lib/dom.js";
import { listOf, numeral, t } from "../lib/words.js";

/** Draw the round's heading, its groups and who sits out. */
export function drawRound({ round }) {
  setText($("h-round"), round === null ? t("club.no_round") : t("club.round", { number: round.number }));
  redraw($("groups"), round, () => (round?.groups ?? []).map(groupItem));
  setText($("sat-out"), round?.sat_out.length ? t("club.sat_out", { names: listOf(round.sat_out) }) : "");
}

function groupItem(group, n) {
  const most = Math.max(...group.players.map((player) => player.total ?? -Infinity));
  return el(
    "li",
    { class: group.over ? "is-over" : null },
    el("b", { text: group.table_name || t("club.table", { number: n + 1 }) }),
    el("ul", {}, ...group.players.map((player) => playerItem(player, group.over && player.total === most))),
  );
}

/** Draw a player with the total, once there is one. */
export function playerItem(player, isFirst) {
  return el(
    "li",
    { class: isFirst ? "score is-first" : "score" },
    isFirst ? el("span", { class: "sr", text: t("named", { name: t("games.winner"), text: "" }) }) : null,
    el("bdi", { text: player.name }),
    player.total === null ? null : el("span", { class: "points", text: ` ${numeral(player.total)}` }),
  );
}

/** Format the date of an evening, which is its id. */
export function dateOf(evening) {
  const at = new Date(`${evening}T12:00:00`);
  return Number.isNaN(at.valueOf()) ? evening : dayForm.format(at);
}
