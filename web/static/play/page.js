// A player's page: join, lobby, then the sheet.
import { rollOf } from "../lib/dice.js";
import {
  $,
  el,
  isOff,
  onPress,
  onSubmit,
  redraw,
  restBriefly,
  setAttribute,
  setText,
  show,
  setTextAnew,
} from "../lib/dom.js";
import { chosenRoll, drawFaces } from "../lib/faces.js";
import { keepAwake } from "../lib/awake.js";
import { confetti } from "../lib/confetti.js";
import { offerDevice } from "../lib/device.js";
import { latest, onState, openStream, post, reasonOf, start, turnShown } from "../lib/live.js";
import { missBoxes, missesText } from "../lib/misses.js";
import { podium } from "../lib/podium.js";
import { showRefusal } from "../lib/refusal.js";
import { namesOf } from "../lib/seats.js";
import { Sheet } from "../lib/sheet.js";
import { recall, remember } from "../lib/storage.js";
import { choiceOf, numeral, t } from "../lib/words.js";
import {
  configureAnswers,
  currentAnswer,
  isOvertaken,
  mayAnswer,
  sendAnswer,
  sendUnsent,
  tapBox,
} from "./answers.js";
import { drawDone } from "./done.js";
import { correctable, drawDoubt, keepTapped } from "./doubt.js";
import { drawJoin, drawLobby } from "./lobby.js";
import { keepMenu, offerMenu } from "./menu.js";
import { drawNotice, vibrate } from "./notice.js";
import { drawPlayers } from "./players.js";
import { askedColour, boxName, isThrowing, isTrouble, statusOf } from "./status.js";

const PRESS_MS = 7_000; // a refusal of the button within this time after a press belongs to it

const sheet = new Sheet($("sheet"), (...tap) =>
  viewedSeat === null ? tapBox(...tap) : explain($("viewing-name").textContent),
);
let whyFrame = 0;
let explained = ""; // the explanation that is shown
let seesSheet = 0; // number of the finished game whose sheet is shown
let buttonRefusal = ""; // the refusal of a button press, while it holds
let closingsSeen = 0; // rows that others were about to close in the last snapshot
let announcedNumber = null; // announcements from before the page was opened are not repeated
let pressedAt = 0;
let seatsSeen = null; // this device's seats in the last snapshot
let chosenSeat = null; // on a shared tablet, the seat whose sheet is shown
let actionSeen = null; // the action drawn last
let diceSeen = null; // its dice
let turnSeen = ""; // the turn drawn last
let viewedSeat = null; // another player whose sheet is shown
let openFor = ""; // what a tap on the sheet means: the action, the roll and whose answer; "" for nothing
let shown = ""; // the visible view: join, lobby or game

// -- showing

function draw(state) {
  const { game, me } = state;
  const isSeated = me.seat !== null;
  if (String(me.seats) !== seatsSeen) {
    if (seatsSeen !== null) openStream(); // the stream depends on the seats
    setText($("join-why"), seatsSeen && !isSeated ? t("join.lost") : ""); // the seat was handed on, freed or left
    seatsSeen = String(me.seats);
  }
  turnToAction2(state);
  followTurn(state);
  drawNotice(state);
  const mine = ownPlayer(state);
  const view = !isSeated ? "join" : mine ? "game" : "lobby";
  for (const each of ["join", "lobby", "game"]) show($(each), each === view);
  const settings = $("device-form");
  const home = view === "game" ? $("menu-device") : $(view);
  if (settings.parentElement !== home) home.append(settings);
  keepMenu(view === "game" ? me.seats : []);
  // the roll was entered elsewhere, or the camera sees the dice again
  const isTyped = view === "game" && game.phase === "roll" && state.table.typed_rolls;
  if (!isTyped || $("typing").dataset.of !== turnOf(game)) $("typing").close();
  if (shown && shown !== view) $(view).focus({ preventScroll: true }); // the focused element is gone
  shown = view;
  const held = document.activeElement; // read after closing dialogs, which restore the focus
  if (!game?.over) seesSheet = 0;
  document.documentElement.classList.toggle("is-playing", view === "game");
  keepAwake(view === "game" && !game.over);
  if (!isSeated) drawJoin(state);
  else if (!mine) drawLobby(state);
  else drawGame(state, game, mine);
  const kept = document.activeElement;
  const isLost = held !== document.body && (kept === document.body || kept.closest("[hidden]"));
  if (isLost) ($("more").open ? $("menu-close") : $(view)).focus({ preventScroll: true });
  const announced = state.announcement;
  const closings = game?.closing.filter((each) => !me.seats.includes(each.seat)).length ?? 0;
  if (announced && announced.number !== announcedNumber) {
    // turns, refusals and what others are about to close stand in other live regions
    const isNewClosing = announced.kind === "closing" && closings > closingsSeen;
    const isTold = isNewClosing || ["turn", "refused"].includes(announced.kind);
    if (announcedNumber !== null && !isTold)
      setTextAnew($("said"), announced.text);
    // a refusal of the real button is shown to the active player, but not over the faces to tap
    const isMine = me.seats.includes(game?.active) || Date.now() - pressedAt < PRESS_MS;
    if (announcedNumber !== null && announced.kind === "refused" && isMine && !askedColour(state)) {
      explain(announced.text);
      buttonRefusal = announced.text;
    }
  }
  if (buttonRefusal && announced?.kind !== "refused") {
    if (explained === buttonRefusal) explain("");
    buttonRefusal = "";
  }
  announcedNumber = announced?.number ?? 0;
  closingsSeen = closings;
}

const turnOf = ({ number, turn }) => `${number} ${turn}`;

/** Return the player whose sheet is shown; a shared tablet has several. */
function ownPlayer({ game, me }) {
  const own = game?.players.filter((player) => me.seats.includes(player.seat) && !player.gone) ?? [];
  return own.find((player) => player.seat === chosenSeat) ?? own[0] ?? null;
}

/** Return to the own sheet when an action opens; on a shared tablet, to the active player's in action 2. */
function turnToAction2({ game, me }) {
  const action = game && `${game.number} ${game.turn} ${game.action}`;
  const isNew = action !== actionSeen;
  if (isNew && game?.action === 2 && me.seats.includes(game.active)) chosenSeat = game.active;
  if (isNew && game?.action) viewedSeat = null; // the own sheet is needed
  // it belongs to what was before: another action, misread dice, or the last game
  if (isNew ? game?.action || game?.turn === 1 : game?.rolled !== diceSeen) explain("");
  if (isNew && isOvertaken(game)) explain(t("why.too_late"));
  actionSeen = action;
  diceSeen = game?.rolled;
}

/** Show the sheet of a tapped player: one's own to answer, another's to look at. */
function showPlayer(seat) {
  const { me } = latest();
  if (me.seats.includes(seat)) chosenSeat = seat;
  viewedSeat = me.seats.includes(seat) ? null : seat;
  explain("");
  draw(latest());
  setText($("said"), viewedSeat === null ? "" : $("viewing-name").textContent);
  document.querySelector(".players [aria-pressed=true]")?.focus(); // the focused button was redrawn
}

/** Mark the own turn, and vibrate when it begins. */
function followTurn({ game, me }) {
  const turn = game && !game.over ? turnOf(game) : "";
  const isMine = turn !== "" && me.seats.includes(game.active);
  if (turn !== turnSeen && turnSeen !== "" && isMine) vibrate(200);
  turnSeen = turn;
  document.body.classList.toggle("is-my-turn", isMine);
}

function drawGame(state, game, mine) {
  keepTapped(state.tray);
  const nameOf = namesOf(game, state.seats);
  const answer = currentAnswer(game, mine);
  const isMyMove = mayAnswer(game, mine);
  const means = isMyMove ? [game.number, game.turn, game.action, mine.seat, JSON.stringify(game.roll)].join() : "";
  if (openFor && means && means !== openFor) restBriefly($("sheet"));
  openFor = means;
  const viewed = game.players.find((player) => player.seat === viewedSeat) ?? mine;
  if (viewed === mine) viewedSeat = null;
  drawPlayers(state, viewed, showPlayer);
  const isShared = game.players.filter((player) => state.me.seats.includes(player.seat)).length > 1;
  const text = statusOf(state, mine, answer, nameOf);
  setAttribute($("status").parentElement, "data-trouble", isTrouble(state) ? "yes" : null); // leaves less room
  setStatus(isShared ? t("named", { name: mine.name, text }) : text);
  drawStrip(state, game);
  const isOwn = viewed === mine;
  sheet.update(
    game,
    viewed,
    isOwn ? answer : viewed.answer,
    nameOf,
    isOwn && state.table.hints,
    !arePointsHidden(),
  );
  show($("viewing"), !isOwn);
  if (!isOwn) setText($("viewing-name"), t("sheet.of", { name: viewed.name }));
  const legal = isMyMove && answer === null && state.table.hints ? mine.legal : [];
  setText(
    $("legal"),
    legal.length ? t("sheet.legal", { boxes: choiceOf(legal.map((token) => boxName(game, token))) }) : "",
  );
  drawScore(viewed);
  drawDone(state, mine, answer, isMyMove && isOwn, () => draw(latest())); // no answer below another's sheet
  drawPointsSwitch();
  drawCurtain(game.over && seesSheet !== game.number);
  if (!isOwn) $("strip").style.visibility = "hidden"; // it is covered
  if (!game.over) setText($("over-refused"), "");
  if (game.over) {
    setText($("over-why"), game.winners.length ? game.end_text : `${game.winner_text} ${game.end_text}`);
    redraw($("podium"), [game.ranking, game.players, mine.seat], () => podium(game, nameOf, mine.seat));
    const isVictory = state.me.seats.some((seat) => game.winners.includes(seat));
    redraw($("over-confetti"), [game.number, isVictory], () => (isVictory ? [confetti()] : []));
    show($("rematch"), state.me.host);
    show($("over-wait"), !state.me.host);
    setText(
      $("over-leave"),
      state.me.seats.length > 1 ? t("lobby.leave_of", { name: mine.name }) : t("lobby.leave"),
    );
  }
}

/** While the result is shown, nothing behind it can be reached: Safari 15.4 has no `inert`. */
function drawCurtain(is) {
  const isNew = is && $("over").hasAttribute("hidden");
  show($("over"), is);
  for (const id of ["players", "strip", "sheet", "bottom", "viewing", "why"])
    $(id).style.visibility = is ? "hidden" : "";
  if (!isNew) return;
  restBriefly($("over"));
  $("over").focus({ preventScroll: true });
}

/** Set the status line; long texts get smaller letters, and more lines where that is not enough. */
function setStatus(text) {
  const status = $("status");
  const fitted = `${innerWidth} ${text}`;
  if (status.dataset.fitted === fitted) return;
  setText(status, text);
  const room = $("game").style;
  room.removeProperty("--sentence");
  for (const size of [null, "yes", "very"]) {
    setAttribute(status, "data-long", size);
    if (status.scrollHeight <= status.clientHeight) break;
  }
  if (status.scrollHeight > status.clientHeight) room.setProperty("--sentence", "auto");
  status.dataset.fitted = fitted;
}

/** Draw the dice; for the active player the tray's buttons or, of a doubtful die, its faces.
 * Elsewhere, and meanwhile, the buttons are in the menu. */
function drawStrip(state, game) {
  const { table, tray } = state;
  const isRoll = game.phase === "roll";
  const isActive = isThrowing(state);
  const hasButtons = isRoll && (table.can_throw || table.on_screen_button || table.typed_rolls);
  const asked = askedColour(state);
  const home = isActive && !asked ? $("strip") : $("menu-tray");
  if ($("tray-buttons").parentElement !== home) home.append($("tray-buttons"));
  show($("tray-buttons"), hasButtons);
  show($("throw"), table.can_throw && !table.typed_rolls);
  show($("confirm"), table.on_screen_button && !table.typed_rolls);
  show($("type"), table.typed_rolls);
  $("confirm").classList.toggle("is-ready", tray.confirmable);
  $("throw").classList.toggle("is-ready", !tray.confirmable);
  $("strip").dataset.phase = game.phase;
  setText($("sum"), game.sums ? String(game.sums.white) : "");
  setAttribute($("sum"), "aria-label", game.sums ? t("game.white_sum", { sum: game.sums.white }) : null);
  setAttribute($("sum"), "role", game.sums ? "img" : null);
  const isFull = hasButtons && isActive && (table.can_throw || !tray.roll); // else there is room for dice
  show($("dice"), !asked && !isFull);
  drawDoubt($("doubt"), asked, tray, (told) => press("/api/die", "why", told));
  const { dice } = game;
  const roll = game.roll ?? tray.roll; // what was read is seen before it is confirmed
  const canCorrect = isRoll && isActive && tray.confirmable && !table.typed_rolls;
  setAttribute($("dice"), "role", canCorrect ? "group" : null);
  setAttribute($("dice"), "aria-label", canCorrect ? t("say.tap_die") : null);
  redraw($("dice"), [roll, dice, canCorrect], () =>
    rollOf({ roll, dice }, canCorrect ? correctable(() => draw(latest())) : undefined),
  );
}

function drawScore(player) {
  redraw($("misses"), [player.misses, player.misses_most], () => missBoxes(player));
  setAttribute($("misses"), "aria-label", missesText(player));
  setText($("total"), numeral(player.points.total));
}

const arePointsHidden = () => recall("points") === "hidden";

function drawPointsSwitch() {
  const isHidden = arePointsHidden();
  setAttribute($("game"), "data-points", isHidden ? "hidden" : null);
  setAttribute(
    $("points"),
    "aria-label",
    isHidden
      ? `${t("game.total")}: ${t("game.points_show")}`
      : `${t("game.total")} ${$("total").textContent}, ${t("game.points_hide")}`,
  );
}

// -- answering

function pressDone() {
  const { game } = latest();
  const mine = ownPlayer(latest());
  if (game?.over) return showSheet(0);
  if (!mine || isOff($("done")) || !mayAnswer(game, mine)) return;
  const answer = currentAnswer(game, mine);
  if (answer?.done) sendAnswer({ isBack: true });
  else sendAnswer({ box: answer?.box ?? null, done: true });
}

/** On a shared tablet, show the next player who has not answered. */
function handOn({ seat }) {
  const { game, me } = latest();
  if (ownPlayer(latest())?.seat !== seat) return; // another sheet was chosen meanwhile
  const next = game?.waiting_for.find((each) => each !== seat && me.seats.includes(each));
  if (next !== undefined) chosenSeat = next;
}

/** Show why something was refused, until it is closed, the next answer is given, or the action or its dice change. */
function explain(text, ruling = null) {
  cancelAnimationFrame(whyFrame);
  explained = text;
  if ($("why").contains(document.activeElement)) sheet.focus();
  $("why").textContent = "";
  if (!text) return;
  whyFrame = requestAnimationFrame(() => {
    showRefusal($("why"), text, ruling); // a repeated text is announced again
    const close = el("button", { type: "button", "aria-label": t("why.close"), text: "✕" });
    close.addEventListener("click", () => explain(""));
    $("why").append(close);
  });
}

/** At the end, show the sheet of that game, or with 0 the result. */
function showSheet(number) {
  seesSheet = number;
  draw(latest());
  $(number ? "done" : "see-sheet").focus();
}

// -- buttons

async function press(path, where, body = {}) {
  const answer = await post(path, body);
  const text = reasonOf(answer);
  if (where === "why") explain(text, answer?.data?.ruling);
  else setTextAnew($(where), text);
  return Boolean(answer?.ok);
}

onPress($("throw"), () => {
  $("more").close();
  return press("/api/throw", "why");
});
onPress($("confirm"), () => {
  $("more").close();
  pressedAt = Date.now();
  return press("/api/press", "why", turnShown());
});
onPress($("rematch"), () => press("/api/rematch", "over-refused"));
$("done").addEventListener("click", pressDone);
$("points").addEventListener("click", () => {
  remember("points", arePointsHidden() ? "" : "hidden");
  draw(latest());
});
$("type").addEventListener("click", () => {
  $("more").close();
  drawFaces($("faces"), latest().game);
  $("typing").dataset.of = turnOf(latest().game);
  setText($("typing-why"), "");
  $("typing").showModal();
});
$("typing-no").addEventListener("click", () => $("typing").close());
onSubmit($("typing-form"), async (event) => {
  const roll = chosenRoll(event.target, latest().game);
  if (roll === null) setTextAnew($("typing-why"), t("dice.missing"));
  else if (await press("/api/roll", "typing-why", roll)) {
    event.target.reset(); // an undone roll is thrown again
    $("typing").close();
  }
});
onPress($("over-leave"), () => press("/api/leave", "over-refused", { seat: ownPlayer(latest()).seat }));
$("viewing-back").addEventListener("click", () => showPlayer(ownPlayer(latest()).seat));
$("see-sheet").addEventListener("click", () => showSheet(latest().game.number));

configureAnswers({ player: () => ownPlayer(latest()), draw: () => draw(latest()), explain, handOn });
offerDevice();
offerMenu(() => ownPlayer(latest()));
$("notice-ok").addEventListener("click", () => ($("over").hidden ? sheet : $("over")).focus());
addEventListener("resize", () => latest() && draw(latest())); // the status line's room has changed
addEventListener("storage", () => latest() && draw(latest())); // points were hidden or shown in another tab
onState(draw);
start();
sendUnsent();
