// A player's page: join, lobby, then the sheet.
import { configureAnswers, currentAnswer, mayAnswer, sendAnswer, tapBox } from "./answers.js";
import { rollOf } from "../lib/dice.js";
import { $, GUARD_MS, setAttribute, el, onPress, onSubmit, redraw, setText, show } from "../lib/dom.js";
import { chosenRoll, drawFaces } from "../lib/faces.js";
import { offerLanguages } from "../lib/language.js";
import { keepMenu, offerMenu } from "./menu.js";
import { latest, onConnection, onState, openStream, post, reasonOf, start } from "../lib/live.js";
import { drawJoin, drawLobby } from "./lobby.js";
import { podium } from "../lib/podium.js";
import { Sheet } from "../lib/sheet.js";
import { remember, recall } from "../lib/storage.js";
import { listOf, capital, numeral, pairOf, t, term } from "../lib/words.js";

const WHY_MS = 7_000;

const sheet = new Sheet($("sheet"), tapBox);
let whyTimer = 0;
let whyFrame = 0;
let guarded = ""; // the action for which the button was last disabled
let guardTimer = 0;
let seesSheet = 0; // number of the finished game whose sheet is shown
let buttonRefusal = ""; // the refusal of a button press, while it holds
let announcedNumber = null; // announcements from before the page was opened are not repeated
let pressedAt = 0;
let seatsSeen = null; // this device's seats in the last snapshot
let chosenSeat = null; // on a shared tablet, the seat whose sheet is shown
let actionSeen = null; // the action drawn last
let shown = ""; // the visible view: join, lobby or game

// -- showing ---------------------------------------------------------------------------------

function draw(state) {
  const { game, me } = state;
  const isSeated = me.seat !== null;
  if (String(me.seats) !== seatsSeen) {
    if (seatsSeen !== null) openStream(); // the stream depends on the seats
    setText($("join-why"), seatsSeen && !isSeated ? t("join.lost") : ""); // the seat was handed on, freed or left
    seatsSeen = String(me.seats);
  }
  turnToAction2(state);
  const mine = ownPlayer(state);
  const view = !isSeated ? "join" : mine ? "game" : "lobby";
  for (const each of ["join", "lobby", "game"]) show($(each), each === view);
  const languages = $("language-form");
  const home = view === "game" ? $("menu-language") : $(view);
  if (languages.parentElement !== home) home.append(languages);
  keepMenu(view === "game" ? me.seats : []);
  // the roll was entered elsewhere
  if (view !== "game" || game.phase !== "roll" || $("typing").dataset.of !== turnOf(game)) $("typing").close();
  if (shown && shown !== view) $(view).focus({ preventScroll: true }); // the focused element is gone
  shown = view;
  const held = document.activeElement; // read after closing dialogs, which restore the focus
  if (!game?.over) seesSheet = 0;
  document.body.classList.toggle("is-playing", isSeated && mine !== null);
  if (!isSeated) drawJoin(state);
  else if (!mine) drawLobby(state);
  else drawGame(state, game, mine);
  if (held?.closest("[hidden]") && $(view).contains(held)) $(view).focus({ preventScroll: true });
  const announced = state.announcement;
  if (announced && announced.number !== announcedNumber) {
    // turns and refusals stand in other live regions
    if (announcedNumber !== null && !["turn", "refused"].includes(announced.kind))
      setText($("said"), announced.text);
    // a refusal of the real button is shown to the active player
    const isMine = me.seats.includes(game?.active) || Date.now() - pressedAt < WHY_MS;
    if (announcedNumber !== null && announced.kind === "refused" && isMine) {
      explain(announced.text);
      buttonRefusal = announced.text;
    }
  }
  if (buttonRefusal && announced?.kind !== "refused") {
    if ($("why").textContent === buttonRefusal) explain("");
    buttonRefusal = "";
  }
  announcedNumber = announced?.number ?? 0;
}

const turnOf = ({ number, turn }) => `${number} ${turn}`;

/** Return the player whose sheet is shown; a shared tablet has several. */
function ownPlayer({ game, me }) {
  const own = game?.players.filter((player) => me.seats.includes(player.seat) && !player.gone) ?? [];
  return own.find((player) => player.seat === chosenSeat) ?? own[0] ?? null;
}

/** On a shared tablet, show the active player's sheet when action 2 begins. */
function turnToAction2({ game, me }) {
  const action = game && `${game.number} ${game.turn} ${game.action}`;
  if (action !== actionSeen && game?.action === 2 && me.seats.includes(game.active)) chosenSeat = game.active;
  actionSeen = action;
}

function turnTo(seat) {
  chosenSeat = seat;
  explain("");
  draw(latest());
  document.querySelector(".players [aria-pressed=true]")?.focus(); // the focused button was redrawn
}

function drawGame(state, game, mine) {
  const nameOf = (seat) =>
    [...game.players, ...state.seats].find((each) => each.seat === seat)?.name ?? `#${seat + 1}`;
  const answer = currentAnswer(game, mine);
  const isMyMove = mayAnswer(game, mine);
  drawPlayers(state, game, mine);
  const isShared = game.players.filter((player) => state.me.seats.includes(player.seat)).length > 1;
  const text = sentence(state, game, mine, answer, nameOf);
  setStatus(isShared ? `${mine.name}: ${text}` : text);
  drawStrip(state, game);
  sheet.update(game, mine, answer, nameOf, state.table.hints !== false, !arePointsHidden());
  const legal = isMyMove && answer === null && state.table.hints !== false ? mine.legal : [];
  setText(
    $("legal"),
    legal.length ? t("sheet.legal", { boxes: listOf(legal.map((token) => boxName(game, token))) }) : "",
  );
  setAttribute($("sheet"), "data-open", isMyMove ? "yes" : null);
  drawBottom(game, mine, answer, isMyMove);
  drawPointsSwitch();
  drawCurtain(game.over && seesSheet !== game.number);
  if (!game.over) setText($("over-refused"), "");
  if (game.over) {
    setText($("over-why"), game.end_text);
    redraw($("podium"), [game.ranking, game.players, state.seats, mine.seat], () =>
      podium(game, nameOf, mine.seat),
    );
    show($("rematch"), state.me.host);
    show($("over-wait"), !state.me.host);
    setText(
      $("over-leave"),
      state.me.seats.length > 1 ? t("lobby.leave_of", { name: mine.name }) : t("lobby.leave"),
    );
  }
}

/** While the result is shown, everything behind it is inert. */
function drawCurtain(is) {
  const isNew = is && $("over").hasAttribute("hidden");
  show($("over"), is);
  for (const id of ["players", "strip", "sheet", "bottom"]) $(id).inert = is;
  if (isNew) $("over").focus({ preventScroll: true });
}

function drawPlayers(state, game, mine) {
  const shows = [
    game.players.map((p) => [p.name, p.answer, p.gone]),
    game.active,
    game.waiting_for,
    game.phase,
    state.seats,
    state.me.seats,
    mine.seat,
  ];
  redraw($("players"), shows, () => game.players.map((player) => playerItem(state, game, player, mine)));
}

function playerItem({ seats, me }, game, player, mine) {
  const isActive = game.active === player.seat;
  const isWaited = game.waiting_for.includes(player.seat);
  const isThrowing = game.phase === "roll" && isActive;
  const hasAnswered = player.answer !== null;
  const word = player.gone
    ? t("players.gone")
    : isWaited
      ? t("players.waited")
      : isThrowing
        ? t("players.throws")
        : hasAnswered
          ? t("players.answered")
          : "";
  const isOnline = seats.find((seat) => seat.seat === player.seat)?.online;
  const isOwn = me.seats.length > 1 && !player.gone && me.seats.includes(player.seat);
  const states = [isActive ? t("players.active") : "", word].filter(Boolean);
  const isAsked = isWaited || isThrowing;
  const mark =
    isAsked || hasAnswered
      ? el("span", {
          class: `mark${isAsked ? " is-asked" : ""}`,
          "aria-hidden": "true",
          text: isAsked ? "" : "✓",
        })
      : null;
  const parts = [
    el("bdi", { text: player.name }),
    mark,
    el("span", { class: "sr", text: states.map((each) => `, ${each}`).join("") }),
  ].filter(Boolean);
  const classes = [
    isActive && "is-active",
    player.gone && "is-gone",
    !isOnline && "is-away",
    isOwn && "is-own",
  ];
  const item = el("li", { class: classes.filter(Boolean).join(" ") });
  item.style.flexShrink = player.name.length ** 4; // long names are truncated first
  if (!isOwn) {
    item.append(...parts);
    return item;
  }
  const button = el("button", { type: "button", "aria-pressed": String(player.seat === mine.seat) }, ...parts);
  button.addEventListener("click", () => turnTo(player.seat));
  item.append(button);
  return item;
}

/** Set the status line; long texts get smaller letters. */
function setStatus(text) {
  const status = $("status");
  const fitted = `${innerWidth} ${text}`;
  if (status.dataset.fitted === fitted) return;
  setText(status, text);
  for (const size of [null, "yes", "very"]) {
    setAttribute(status, "data-long", size);
    if (status.scrollHeight <= status.clientHeight) break;
  }
  status.dataset.fitted = fitted;
}

function sentence(state, game, mine, answer, nameOf) {
  const active = nameOf(game.active);
  const isMine = game.active === mine.seat;
  const white = game.sums?.white;
  if (game.over) return `${t("over.title")}. ${game.winner_text}`;
  if (game.phase === "roll") return rollSentence(state, active, isMine);
  if (game.phase === "action2" && !isMine) return t("say.action2.other", { name: active });
  const closing = game.closing.filter((each) => each.seat !== mine.seat);
  const closes = closing
    .map((each) => `${t("say.closes", { name: nameOf(each.seat), row: rowTerm(game, each.row) })} `)
    .join("");
  if (answer === null) {
    // without hints, do not reveal that nothing fits
    const fits = state.table.hints === false || mine.legal.length > 0;
    if (game.phase === "action1") return closes + t(fits ? "say.action1" : "say.action1.none", { sum: white });
    const miss = game.miss_due ? ` ${t("say.miss")}` : "";
    return t(fits ? "say.action2" : "say.action2.none") + miss;
  }
  const box = answer.box ? boxName(game, answer.box) : null;
  if (closing.length) return closes + t("say.may_change");
  const waiting = game.waiting_for.filter((seat) => seat !== mine.seat).map(nameOf);
  const dice = pairOf(mine.made_by[answer.box] ?? []);
  if (box && !answer.done) return t("say.tapped", { box: capital(box), dice });
  const chosen = box ? t("say.crossed", { box: capital(box) }) : t("say.passed");
  return waiting.length ? `${chosen} ${t("say.waiting", { names: listOf(waiting) })}` : chosen;
}

function rollSentence({ tray, table }, active, isMine) {
  if (table.typed_rolls) return t(isMine ? "say.roll.typed" : "say.roll.typed.other", { name: active });
  if (tray.confirmable) return t(isMine ? "say.roll.confirm" : "say.roll.confirm.other", { name: active });
  if (["waiting", "empty", "old", "none"].includes(tray.status))
    return t(isMine ? "say.roll" : "say.roll.other", { name: active });
  return tray.text;
}

function drawStrip({ table, tray }, game) {
  const isRoll = game.phase === "roll";
  const hasButtons = isRoll && (table.can_throw || table.on_screen_button || table.typed_rolls);
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
  show($("dice"), !hasButtons);
  redraw($("dice"), [game.roll, game.dice], () => rollOf(game));
}

function drawBottom(game, mine, answer, isMyMove) {
  redraw($("misses"), [mine.misses, mine.misses_most], () =>
    Array.from({ length: mine.misses_most }, (_, i) =>
      el("span", { class: i < mine.misses ? "miss is-taken" : "miss" }),
    ),
  );
  setAttribute(
    $("misses"),
    "aria-label",
    t("game.misses", { count: mine.misses, most: mine.misses_most, minus: mine.points.minus }),
  );
  setText($("total"), numeral(mine.points.total));
  drawClock(game);
  const button = $("done");
  const label = game.over
    ? t("over.back")
    : isMyMove && answer?.box
      ? t("done")
      : isMyMove && answer?.done
        ? t("passed")
        : t("pass");
  setText(button, label);
  // a double tap, or a press meant for other dice, must not answer
  guard(`${game.number} ${game.turn} ${game.action} ${mine.seat} ${JSON.stringify(game.roll)}`);
  // not `disabled`, which would lose the keyboard focus
  setAttribute(
    button,
    "aria-disabled",
    !game.over && (!isMyMove || Boolean(answer?.done) || guardTimer !== 0) ? "true" : null,
  );
  button.classList.toggle("is-way", game.over);
  button.classList.toggle("is-miss", isMyMove && game.miss_due && !answer?.box);
}

/** Draw the remaining time of an answered action as a shrinking bar. */
function drawClock(game) {
  const is = game.closes_in_s !== null && game.closes_in_s > 0;
  show($("clock"), is);
  const moment = is ? `${game.turn} ${game.action} ${game.waiting_for}` : "";
  if (is && $("clock").dataset.of !== moment) $("clock").style.animationDuration = `${game.closes_in_s}s`;
  $("clock").dataset.of = moment;
}

const arePointsHidden = () => recall("points") === "hidden";

function drawPointsSwitch() {
  const isHidden = arePointsHidden();
  setAttribute($("game"), "data-points", isHidden ? "hidden" : null);
  setAttribute(
    $("points"),
    "aria-label",
    isHidden ? t("game.points_show") : `${t("game.total")} ${$("total").textContent}, ${t("game.points_hide")}`,
  );
}

function guard(action) {
  if (action === guarded) return;
  guarded = action;
  clearTimeout(guardTimer);
  guardTimer = setTimeout(() => {
    guardTimer = 0;
    draw(latest());
  }, GUARD_MS);
}

const rowOf = (game, token) => game.rows.find((row) => row.boxes.some((box) => box.token === token));
const rowTerm = (game, key) => term(game.rows.find((row) => row.key === key).word);

function boxName(game, token) {
  const row = rowOf(game, token);
  return `${row.name} ${row.boxes.find((box) => box.token === token).number}`;
}

// -- answering -------------------------------------------------------------------------------

function pressDone() {
  const { game } = latest();
  const mine = ownPlayer(latest());
  if (game?.over) return showSheet(0);
  if (!mine || $("done").getAttribute("aria-disabled") === "true" || !mayAnswer(game, mine)) return;
  sendAnswer({ box: currentAnswer(game, mine)?.box ?? null, done: true });
}

/** On a shared tablet, show the next player who has not answered. */
function handOn({ seat }) {
  const { game, me } = latest();
  if (ownPlayer(latest())?.seat !== seat) return; // another sheet was chosen meanwhile
  const next = game?.waiting_for.find((each) => each !== seat && me.seats.includes(each));
  if (next !== undefined) chosenSeat = next;
}

/** Show why something was refused, with a link to its ruling. */
function explain(text, ruling = null) {
  clearTimeout(whyTimer);
  cancelAnimationFrame(whyFrame);
  $("why").textContent = "";
  if (!text) return;
  whyFrame = requestAnimationFrame(() => {
    setText($("why"), text); // a repeated text is announced again
    if (ruling) $("why").append(" ", el("a", { href: `/rules#${ruling}`, text: t("why.rule") }));
  });
  whyTimer = setTimeout(() => explain(""), WHY_MS); // also if a sleeping page never drew it
}

/** At the end, show the sheet of that game, or with 0 the result. */
function showSheet(number) {
  seesSheet = number;
  draw(latest());
  $(number ? "done" : "see-sheet").focus();
}

// -- buttons ---------------------------------------------------------------------------------

async function press(path, where, body = {}) {
  const answer = await post(path, body);
  const text = reasonOf(answer);
  if (where === "why") explain(text, answer?.data?.ruling);
  else setText($(where), text);
  return Boolean(answer?.ok);
}

onPress($("throw"), () => press("/api/throw", "why"));
onPress($("confirm"), () => {
  pressedAt = Date.now();
  return press("/api/press", "why");
});
onPress($("rematch"), () => press("/api/rematch", "over-refused"));
$("done").addEventListener("click", pressDone);
$("points").addEventListener("click", () => {
  remember("points", arePointsHidden() ? "" : "hidden");
  draw(latest());
});
$("type").addEventListener("click", () => {
  drawFaces($("faces"), latest().game);
  $("typing").dataset.of = turnOf(latest().game);
  setText($("typing-why"), "");
  $("typing").showModal();
});
$("typing-no").addEventListener("click", () => $("typing").close());
onSubmit($("typing-form"), async (event) => {
  const roll = chosenRoll(event.target, latest().game);
  if (roll === null) setText($("typing-why"), t("host.roll_missing"));
  else if (await press("/api/roll", "typing-why", roll)) $("typing").close();
});
onPress($("over-leave"), () => press("/api/leave", "over-refused", { seat: ownPlayer(latest()).seat }));
$("see-sheet").addEventListener("click", () => showSheet(latest().game.number));

configureAnswers({ player: () => ownPlayer(latest()), draw: () => draw(latest()), explain, handOn });
offerLanguages();
offerMenu(() => ownPlayer(latest()));
addEventListener("resize", () => latest() && draw(latest())); // the status line's room has changed
addEventListener("storage", () => latest() && draw(latest())); // points were hidden or shown in another tab
onConnection((up) => show($("offline"), !up));
onState(draw);
start();
