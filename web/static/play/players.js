// The line of players: who is who, whose turn it is, who has answered; a tap shows that player's sheet.
import { $, el, redraw } from "../lib/dom.js";
import { playerMark } from "../lib/player-mark.js";
import { t } from "../lib/words.js";

/**
 * Draw the line of players.
 * @param viewed the player whose sheet is shown
 * @param onTap is called with the seat of a tapped player
 */
export function drawPlayers(state, viewed, onTap) {
  const { game, seats, me } = state;
  const data = [
    game.players.map((player) => [player.name, player.answer, player.gone]),
    game.active,
    game.over,
    game.waiting_for,
    game.phase,
    seats,
    me.seats,
    viewed.seat,
  ];
  $("players").classList.toggle("is-full", game.players.length > 3);
  redraw($("players"), data, () => game.players.map((player) => playerItem(state, player, viewed, onTap)));
}

function playerItem({ game, seats, me }, player, viewed, onTap) {
  const isActive = game.active === player.seat && !game.over;
  const isWaited = game.waiting_for.includes(player.seat);
  const isThrowing = game.phase === "roll" && isActive;
  const isAsked = isWaited || isThrowing;
  const isOwn = !player.gone && me.seats.includes(player.seat);
  const isViewed = player.seat === viewed.seat;
  const isOnline = seats.find((seat) => seat.seat === player.seat)?.online;
  const words = [isActive ? t("players.active") : "", wordOf(player, isWaited, isThrowing)].filter(Boolean);
  const mark =
    isAsked || player.answer !== null
      ? el("span", {
          class: `mark${isAsked ? " is-asked" : ""}`,
          "aria-hidden": "true",
          text: isAsked ? "" : "✓",
        })
      : null;
  const button = el(
    "button",
    { type: "button", "aria-pressed": String(isViewed) },
    playerMark(player.seat),
    el("bdi", { text: player.name }),
    isOwn ? el("span", { class: "own", text: t("lobby.you") }) : null,
    mark,
    el("span", { class: "sr", text: words.map((each) => `, ${each}`).join("") }),
  );
  button.addEventListener("click", () => onTap(player.seat));
  const classes = [
    isActive && "is-active",
    player.gone && "is-gone",
    !isOnline && "is-away",
    isOwn && "is-own",
    isViewed && (!isOwn || me.seats.length > 1) && "is-viewed",
  ];
  const item = el("li", { class: classes.filter(Boolean).join(" ") }, button);
  item.style.flexShrink = String(player.name.length ** 12); // long names first: 1/64 px less is an ellipsis
  return item;
}

function wordOf(player, isWaited, isThrowing) {
  if (player.gone) return t("players.gone");
  if (isWaited) return t("players.waited");
  if (isThrowing) return t("players.throws");
  return player.answer !== null ? t("players.answered") : "";
}
