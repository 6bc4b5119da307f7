// The host's list of players: order, devices, and answering for a player.
import { openDialog, request, takeNow } from "./dialog.js";
import { $, el, onPress, pressButton, redraw, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { drawnMisses } from "../lib/misses.js";
import { playerMark } from "../lib/player-mark.js";
import { SEATS } from "../lib/seats.js";
import { capital, numeral, t } from "../lib/words.js";

const runs = (game) => game !== null && !game.over;

export function drawSeats({ game, seats }) {
  const isRunning = runs(game);
  show($("bots"), !isRunning && seats.length > 0 && seats.length < SEATS);
  redraw($("seats"), [seats, isRunning], () => seats.map((seat, i) => seatItem(seats, i, isRunning)));
  if (!seats.length) redraw($("seats"), "none", () => [el("li", {}, el("span", { text: t("table.empty") }))]);
}

/** Draw every player's points and misses, whose turn it is, and a button to answer for those asked. */
export function drawScores({ game }) {
  const players = game?.players ?? [];
  redraw($("scores"), [players, game?.active, game?.over, game?.waiting_for, game?.turn, game?.action], () =>
    players.map((player) => scoreItem(game, player)),
  );
}

function scoreItem(game, player) {
  const isActive = game.active === player.seat && !game.over;
  return el(
    "li",
    { class: isActive ? "is-active" : "" },
    playerMark(player.seat),
    el("bdi", { text: player.name }),
    isActive ? el("span", { class: "sr", text: t("players.active") }) : null,
    drawnMisses(player),
    el("b", { text: numeral(player.points.total) }),
    game.waiting_for.includes(player.seat)
      ? tool(t("host.answer"), t("host.answer_of", { name: player.name }), () => answerFor(game, player))
      : null,
  );
}

function seatItem(seats, i, isRunning) {
  const seat = seats[i];
  const isHanded = seat.offered && !seat.waits;
  const note = seat.bot ? t(`bot.${seat.bot}`) : isHanded ? t("host.offered") : seat.online ? "" : t("lobby.away");
  const item = el(
    "li",
    { class: seat.online ? "is-here" : "" },
    playerMark(seat.seat),
    el("bdi", { text: seat.name }),
    el("span", { class: "note", text: note }),
  );
  const tools = el("span", { class: "tools" });
  if (!isRunning && seats.length > 1) {
    tools.append(tool("↑", t("host.earlier", { name: seat.name }), () => move(seats, i, -1), i === 0));
    tools.append(
      tool("↓", t("host.later", { name: seat.name }), () => move(seats, i, 1), i === seats.length - 1),
    );
  }
  if (!seat.offered && !seat.bot)
    tools.append(
      tool(t("host.hand"), t("host.hand_of", { name: seat.name }), () =>
        request("/api/hand", { seat: seat.seat }, "seats-why"),
      ),
    );
  const freeing = tool(t("host.free"), t("host.free_of", { name: seat.name }), () => free(seat, isRunning));
  freeing.classList.add("danger");
  tools.append(freeing);
  item.append(tools);
  return item;
}

for (const button of document.querySelectorAll("[data-bot]"))
  onPress(button, () => request("/api/bot", { strength: button.dataset.bot }, "seats-why"));

const tool = (text, label, onTap, isOff = false) =>
  pressButton({ class: "tool", text, "aria-label": label, disabled: isOff }, onTap);

async function move(seats, i, by) {
  const order = seats.map((seat) => seat.seat);
  [order[i], order[i + by]] = [order[i + by], order[i]];
  const isDone = await request("/api/order", { seats: order }, "seats-why");
  const entry = isDone && $("seats").children[i + by];
  const same = entry && entry.querySelectorAll("button")[by < 0 ? 0 : 1];
  // at the end of the list that button is disabled
  if (same) (same.disabled ? entry.querySelector("button:enabled") : same).focus();
}

function free(seat, isRunning) {
  const game = isRunning ? latest().game.number : null; // it may arrive late, after an outage
  openDialog({
    title: t(isRunning ? "host.free_ask_game" : "host.free_ask", { name: seat.name }),
    yes: t("host.free"),
    isDanger: true,
    // leaving a game is another question, and so is somebody else on that seat
    isStill: () =>
      runs(latest().game) === isRunning &&
      latest().seats.some((each) => each.seat === seat.seat && each.name === seat.name),
    onYes: () => request("/api/free", { seat: seat.seat, name: seat.name, game }, "ask-why"),
  });
}

function answerFor(game, player) {
  const give = (box) => () =>
    takeNow("/api/answer_for", {
      seat: player.seat,
      rolled: game.rolled,
      turn: game.turn,
      action: game.action,
      box,
    });
  const boxes = player.legal.map((token) => {
    const row = game.rows.find((each) => each.boxes.some((box) => box.token === token));
    const { number } = row.boxes.find((box) => box.token === token);
    const text = `${capital(row.name)} ${number}`;
    return pressButton({ class: `pick is-${row.lock ?? "bonus"}`, text }, give(token));
  });
  const pass = pressButton({ class: "pick", text: t("pass") }, give(null));
  openDialog({
    title: t("host.answer_of", { name: player.name }),
    yes: "",
    onYes: null,
    choices: [...boxes, pass],
  });
}
