// The host's page: start, dice by hand, end early, play again.
import { $, el, onPress, redraw, say, show } from "./dom.js";
import { chosenRoll, drawFaces } from "./faces.js";
import { offerLanguages } from "./language.js";
import { now, onLine, onState, post, start } from "./live.js";
import { t } from "./words.js";

let hasAsked = false;

function draw(state) {
  const { game, seats, table, tray, me } = state;
  const leads = me.host && table.hosted;
  show($("gate"), !leads && table.hosted);
  show($("desk"), leads);
  if (!table.hosted && !hasAsked) {
    hasAsked = true; // who opens this page first leads the table
    void post("/api/host");
  }
  if (!leads) return;
  const nameOf = (seat) => seats.find((each) => each.seat === seat)?.name ?? `#${seat + 1}`;
  const isRunning = game !== null && !game.over;
  say($("game-text"), gameText(game, nameOf));
  show($("start-form"), !isRunning);
  show($("rematch"), game?.over ?? false);
  show($("end"), isRunning);
  show($("close"), isRunning && game.waiting_for.length > 0);
  show($("undo"), game !== null);
  redraw($("first"), seats, () => [
    el("option", { value: "", text: t("host.lot") }),
    ...seats.map((seat) => el("option", { value: seat.seat, text: seat.name })),
  ]);
  say($("tray-text"), game?.action ? "" : tray.text);
  show($("say"), true);
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button && !table.typed_rolls);
  $("throw").disabled = (game?.action ?? 0) > 0;
  $("confirm").disabled = game?.phase !== "roll";
  say($("said"), state.announcement?.text ?? "");
  drawRollForm(game);
  redraw($("seats"), [seats, isRunning], () => seats.map((seat) => seatItem(seat, isRunning)));
  if (!seats.length) redraw($("seats"), "none", () => [el("li", {}, el("span", { text: t("table.empty") }))]);
  redraw($("parts"), table, () => [
    ...fact("host.camera", t(`host.equipment.${table.camera}`)),
    ...fact("host.button", t(`host.equipment.${table.button}`)),
    ...fact("host.address", table.join_url || `${location.origin}/`),
  ]);
}

function seatItem(seat, isRunning) {
  const note = el("span", { class: "note", text: seat.online ? "" : t("lobby.away") });
  const item = el("li", { class: seat.online ? "is-here" : "" }, el("bdi", { text: seat.name }), note);
  if (isRunning) return item;
  const free = el("button", { type: "button", class: "plain", text: t("host.free"), "aria-label": t("host.free_of", { name: seat.name }) });
  onPress(free, () => press("/api/free", { seat: seat.seat }));
  item.append(free);
  return item;
}

const fact = (key, value) => [el("dt", { text: t(key) }), el("dd", { text: value })];

function gameText(game, nameOf) {
  if (game === null) return t("host.none");
  if (game.over) return t("host.over", { number: game.number, text: game.winner_text });
  return t("host.running", { number: game.number, turn: game.turn, name: nameOf(game.active) });
}

function drawRollForm(game) {
  const isDue = game?.phase === "roll";
  const isOpen = (game?.action ?? 0) > 0;
  show($("roll-form"), isDue || isOpen);
  say($("roll-lead"), t(isDue ? "host.roll_lead" : isOpen ? "host.correct_lead" : "host.roll_later"));
  say($("enter"), t(isOpen ? "host.correct" : "host.enter"));
  drawFaces($("faces"), game);
}

async function press(path, body = {}, where = "why") {
  const answer = await post(path, body);
  say($(where), answer === null ? t("why.unreachable") : answer.ok ? "" : answer.data.message ?? t("why.unknown"));
}

$("gate-form").addEventListener("submit", (event) => {
  event.preventDefault();
  press("/api/host", { pin: $("pin").value }, "gate-why");
});
$("start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const first = $("first").value;
  const variant = document.querySelector("[name=variant]:checked").value;
  press("/api/start", { variant, first: first === "" ? null : Number(first) });
});
$("roll-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const { game } = now();
  const roll = chosenRoll(event.target, game);
  if (roll === null) return say($("roll-why"), t("host.roll_missing"));
  press(game.action ? "/api/correct" : "/api/roll", roll, "roll-why");
});
onPress($("close"), () => press("/api/close"));
onPress($("undo"), () => press("/api/undo"));
onPress($("rematch"), () => press("/api/rematch"));
onPress($("throw"), () => press("/api/throw"));
onPress($("confirm"), () => press("/api/press"));
onPress($("say"), () => press("/api/say"));
$("end").addEventListener("click", () => $("end-dialog").showModal());
$("end-no").addEventListener("click", () => $("end-dialog").close());
onPress($("end-yes"), async () => {
  $("end-dialog").close();
  await press("/api/end");
});
offerLanguages();
onLine((up) => show($("offline"), !up));
onState(draw);
start();
