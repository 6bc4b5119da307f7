// The ranking at the end of a game, with the points of each row.
import { el } from "./dom.js";
import { missesText } from "./misses.js";
import { playerMark } from "./player-mark.js";
import { numeral, t } from "./words.js";

/** Return who stands where; a game that was ended early names no leader. */
function places(game) {
  if (game.end !== "ended_early") return game.ranking;
  return game.players.map(({ seat, points }) => ({ rank: null, seat, total: points.total }));
}

/** Draw the ranking as list items, best first. */
export function podium(game, nameOf, own = null) {
  return places(game).map(({ rank, seat, total }) => {
    const player = game.players.find((each) => each.seat === seat);
    const rows = game.rows.filter((row) => row.lock);
    const parts = rows.map((row) =>
      el(
        "span",
        { class: `part is-${row.lock}` },
        el("span", { class: "sr", text: `${row.name} ` }),
        String(player.points.rows[row.lock]),
      ),
    );
    if (player.points.minus)
      parts.push(
        el("span", {
          class: "part is-minus",
          role: "img",
          "aria-label": missesText(player),
          text: numeral(-player.points.minus),
        }),
      );
    return el(
      "li",
      { class: rank === 1 ? "rank-1" : null },
      el("span", { class: "rank", text: rank === null ? "" : t("over.rank", { rank }) }),
      el(
        "span",
        { class: "who" },
        playerMark(seat),
        el(
          "span",
          {},
          el("bdi", { text: nameOf(seat) }),
          seat === own ? el("span", { class: "note", text: ` (${t("lobby.you")})` }) : null,
          player.gone ? el("span", { class: "note", text: ` (${t("gone")})` }) : null,
        ),
      ),
      el("b", { class: "points", text: t("over.points", { total }) }),
      el("span", { class: "parts" }, ...parts),
    );
  });
}
