// A player's page: take a seat, wait for the others, then the sheet.
import { answerFor, ask, currentAnswer, mayAnswer, tapped } from "./answers.js";
import { rollOf } from "./dice.js";
import { $, GUARD_MS, attribute, el, onPress, onSubmit, redraw, say, show } from "./dom.js";
import { chosenRoll, drawFaces } from "./faces.js";
import { offerLanguages } from "./language.js";
import { keepMenu, offerMenu } from "./menu.js";
import { now, onLine, onState, open, post, start } from "./live.js";
import { drawJoin, drawLobby } from "./lobby.js";
import { podium } from "./over.js";
import { Sheet } from "./sheet.js";
import { remember, remembered } from "./own.js";
import { all, capital, numeral, pairOf, t, term } from "./words.js";

const WHY_MS = 7_000;

const sheet = new Sheet($("sheet"), tapped);
let whyTimer = 0;
let whyFrame = 0;
let guarded = ""; // the action the button was last held back for
let guardTimer = 0;
let seesSheet = 0; // number of the finished game whose sheet is looked at
let buttonSaid = ""; // why a press did nothing, as long as that is so
let toldNumber = null; // nothing is told again that was said before the page was opened
let pressedAt = 0;
let seatsSeen = null; // this device's seats
let chosenSeat = null; // on a shared tablet, the one whose sheet is looked at
let actionSeen = null; // the one that is drawn
let shown = ""; // the view that is seen: join, lobby or game

// -- showing ---------------------------------------------------------------------------------

function draw(state) {
  const { game, me } = state;
  const isSeated = me.seat !== null;
  if (String(me.seats) !== seatsSeen) {
    if (seatsSeen !== null) open(); // a seat came or went: the stream has to know
    say($("join-why"), seatsSeen && !isSeated ? t("join.lost") : ""); // handed on, freed, or left
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
  if (view !== "game" || game.phase !== "roll" || $("typing").dataset.of !== turnOf(game)) $("typing").close(); // somebody else was faster
  if (shown && shown !== view) $(view).focus({ preventScroll: true }); // what had it is gone
  shown = view;
  const held = document.activeElement; // after the dialogs: they give it back where they took it
  if (!game?.over) seesSheet = 0;
  document.body.classList.toggle("is-playing", isSeated && mine !== null);
  if (!isSeated) drawJoin(state);
  else if (!mine) drawLobby(state);
  else drawGame(state, game, mine);
  if (held?.closest("[hidden]") && $(view).contains(held)) $(view).focus({ preventScroll: true });
  const announced = state.announcement;
  if (announced && announced.number !== toldNumber) {
    // whose turn it is, and why a press did nothing, stand in lines that are read out as well
    if (toldNumber !== null && !["turn", "refused"].includes(announced.kind)) say($("said"), announced.text);
    // the real button answers nobody in particular: whose turn it is reads why it did nothing
    const isMine = me.seats.includes(game?.active) || Date.now() - pressedAt < WHY_MS;
    if (toldNumber !== null && announced.kind === "refused" && isMine) {
      explain(announced.text);
      buttonSaid = announced.text;
    }
  }
  if (buttonSaid && announced?.kind !== "refused") {
    if ($("why").textContent === buttonSaid) explain("");
    buttonSaid = "";
  }
  toldNumber = announced?.number ?? 0;
}

const turnOf = ({ number, turn }) => `${number} ${turn}`;

/** The player whose sheet this page shows; a shared tablet holds several. */
function ownPlayer({ game, me }) {
  const own = game?.players.filter((player) => me.seats.includes(player.seat) && !player.gone) ?? [];
  return own.find((player) => player.seat === chosenSeat) ?? own[0] ?? null;
}

/** A shared tablet turns to the player whose action 2 begins. */
function turnToAction2({ game, me }) {
  const action = game && `${game.number} ${game.turn} ${game.action}`;
  if (action !== actionSeen && game?.action === 2 && me.seats.includes(game.active)) chosenSeat = game.active;
  actionSeen = action;
}

function turnTo(seat) {
  chosenSeat = seat;
  explain("");
  draw(now());
  document.querySelector(".players [aria-pressed=true]")?.focus(); // the one that had it is redrawn
}

function drawGame(state, game, mine) {
  const nameOf = (seat) => [...game.players, ...state.seats].find((each) => each.seat === seat)?.name ?? `#${seat + 1}`;
  const answer = currentAnswer(game, mine);
  const isMyMove = mayAnswer(game, mine);
  drawPlayers(state, game, mine);
  const isShared = game.players.filter((player) => state.me.seats.includes(player.seat)).length > 1;
  const text = sentence(state, game, mine, answer, nameOf);
  tell(isShared ? `${mine.name}: ${text}` : text);
  drawStrip(state, game);
  sheet.update(game, mine, answer, nameOf, state.table.hints !== false, !arePointsHidden());
  const legal = isMyMove && answer === null && state.table.hints !== false ? mine.legal : [];
  say($("legal"), legal.length ? t("sheet.legal", { boxes: all(legal.map((token) => boxName(game, token))) }) : ""); // who sees the sheet sees them
  attribute($("sheet"), "data-open", isMyMove ? "yes" : null);
  drawBottom(game, mine, answer, isMyMove);
  drawPointsSwitch();
  drawCurtain(game.over && seesSheet !== game.number);
  if (!game.over) say($("over-refused"), "");
  if (game.over) {
    say($("over-why"), game.end_text);
    redraw($("podium"), [game.ranking, game.players, state.seats, mine.seat], () => podium(game, nameOf, mine.seat));
    show($("rematch"), state.me.host);
    show($("over-wait"), !state.me.host);
    say($("over-leave"), state.me.seats.length > 1 ? t("lobby.leave_of", { name: mine.name }) : t("lobby.leave"));
  }
}

/** While the result is shown, what lies behind it can neither be pressed nor read out. */
function drawCurtain(is) {
  const isNew = is && $("over").hasAttribute("hidden");
  show($("over"), is);
  for (const id of ["players", "strip", "sheet", "bottom"]) $(id).inert = is;
  if (isNew) $("over").focus({ preventScroll: true });
}

function drawPlayers(state, game, mine) {
  const shows = [game.players.map((p) => [p.name, p.answer, p.gone]), game.active, game.waiting_for, game.phase, state.seats, state.me.seats, mine.seat];
  redraw($("players"), shows, () => game.players.map((player) => playerItem(state, game, player, mine)));
}

function playerItem({ seats, me }, game, player, mine) {
  const isActive = game.active === player.seat;
  const isWaited = game.waiting_for.includes(player.seat);
  const isThrowing = game.phase === "roll" && isActive;
  const hasAnswered = player.answer !== null;
  const word = player.gone ? t("players.gone") : isWaited ? t("players.waited") : isThrowing ? t("players.throws") : hasAnswered ? t("players.answered") : "";
  const isOnline = seats.find((seat) => seat.seat === player.seat)?.online;
  const isOwn = me.seats.length > 1 && !player.gone && me.seats.includes(player.seat);
  const told = [isActive ? t("players.active") : "", word].filter(Boolean);
  const isAsked = isWaited || isThrowing;
  const mark = isAsked || hasAnswered ? el("span", { class: `mark${isAsked ? " is-asked" : ""}`, "aria-hidden": "true", text: isAsked ? "" : "✓" }) : null;
  const parts = [
    el("bdi", { text: player.name }),
    mark,
    el("span", { class: "sr", text: told.map((each) => `, ${each}`).join("") }),
  ].filter(Boolean);
  const classes = [isActive && "is-active", player.gone && "is-gone", !isOnline && "is-away", isOwn && "is-own"];
  const item = el("li", { class: classes.filter(Boolean).join(" ") });
  item.style.flexShrink = player.name.length ** 4; // where not all fit, the longest are cut first
  if (!isOwn) {
    item.append(...parts);
    return item;
  }
  const button = el("button", { type: "button", "aria-pressed": String(player.seat === mine.seat) }, ...parts);
  button.addEventListener("click", () => turnTo(player.seat));
  item.append(button);
  return item;
}

/** The one sentence on top; a long one in smaller letters, so that its end is not lost. */
function tell(text) {
  const status = $("status");
  const fitted = `${innerWidth} ${text}`;
  if (status.dataset.fitted === fitted) return;
  say(status, text);
  for (const size of [null, "yes", "very"]) {
    attribute(status, "data-long", size);
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
  const closes = closing.map((each) => `${t("say.closes", { name: nameOf(each.seat), row: rowTerm(game, each.row) })} `).join("");
  if (answer === null) {
    const fits = state.table.hints === false || mine.legal.length > 0; // without hints everybody looks for themselves
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
  return waiting.length ? `${chosen} ${t("say.waiting", { names: all(waiting) })}` : chosen;
}

function rollSentence({ tray, table }, active, isMine) {
  if (table.typed_rolls) return t(isMine ? "say.roll.typed" : "say.roll.typed.other", { name: active });
  if (tray.confirmable) return t(isMine ? "say.roll.confirm" : "say.roll.confirm.other", { name: active });
  if (["waiting", "empty", "old", "none"].includes(tray.status)) return t(isMine ? "say.roll" : "say.roll.other", { name: active });
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
  say($("sum"), game.sums ? String(game.sums.white) : "");
  attribute($("sum"), "aria-label", game.sums ? t("game.white_sum", { sum: game.sums.white }) : null);
  attribute($("sum"), "role", game.sums ? "img" : null);
  show($("dice"), !hasButtons);
  redraw($("dice"), [game.roll, game.dice], () => rollOf(game));
}

function drawBottom(game, mine, answer, isMyMove) {
  redraw($("misses"), [mine.misses, mine.misses_most], () =>
    Array.from({ length: mine.misses_most }, (_, i) => el("span", { class: i < mine.misses ? "miss is-taken" : "miss" })),
  );
  attribute($("misses"), "aria-label", t("game.misses", { count: mine.misses, most: mine.misses_most, minus: mine.points.minus }));
  say($("total"), numeral(mine.points.total));
  drawClock(game);
  const button = $("done");
  const label = game.over ? t("over.back") : isMyMove && answer?.box ? t("done") : isMyMove && answer?.done ? t("passed") : t("pass");
  say(button, label);
  guard(`${game.number} ${game.turn} ${game.action} ${mine.seat} ${JSON.stringify(game.roll)}`); // the second half of a double tap, and a press meant for other dice, must not answer
  // not `disabled`: who has just pressed it by a key would lose their place on the page
  attribute(button, "aria-disabled", !game.over && (!isMyMove || Boolean(answer?.done) || guardTimer !== 0) ? "true" : null);
  button.classList.toggle("is-way", game.over);
  button.classList.toggle("is-miss", isMyMove && game.miss_due && !answer?.box);
}

/** How long the answered action stays open: a bar that runs out. */
function drawClock(game) {
  const is = game.closes_in_s !== null && game.closes_in_s > 0;
  show($("clock"), is);
  const moment = is ? `${game.turn} ${game.action} ${game.waiting_for}` : "";
  if (is && $("clock").dataset.of !== moment) $("clock").style.animationDuration = `${game.closes_in_s}s`;
  $("clock").dataset.of = moment;
}

const arePointsHidden = () => remembered("points") === "hidden";

function drawPointsSwitch() {
  const isHidden = arePointsHidden();
  attribute($("game"), "data-points", isHidden ? "hidden" : null);
  attribute($("points"), "aria-label", isHidden ? t("game.points_show") : `${t("game.total")} ${$("total").textContent}, ${t("game.points_hide")}`);
}

function guard(action) {
  if (action === guarded) return;
  guarded = action;
  clearTimeout(guardTimer);
  guardTimer = setTimeout(() => {
    guardTimer = 0;
    draw(now());
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
  const { game } = now();
  const mine = ownPlayer(now());
  if (game?.over) return look(0);
  if (!mine || $("done").getAttribute("aria-disabled") === "true" || !mayAnswer(game, mine)) return;
  ask({ box: currentAnswer(game, mine)?.box ?? null, done: true });
}

/** On a shared tablet the sheet of who has still to answer comes next. */
function handOn({ seat }) {
  const { game, me } = now();
  if (ownPlayer(now())?.seat !== seat) return; // somebody turned to another one meanwhile
  const next = game?.waiting_for.find((each) => each !== seat && me.seats.includes(each));
  if (next !== undefined) chosenSeat = next;
}

/** Show why something was refused, with a link to the ruling where there is one. */
function explain(text, ruling = null) {
  clearTimeout(whyTimer);
  cancelAnimationFrame(whyFrame);
  $("why").textContent = "";
  if (!text) return;
  whyFrame = requestAnimationFrame(() => { // the same sentence again is told again
    say($("why"), text);
    if (ruling) $("why").append(" ", el("a", { href: `/rules#${ruling}`, text: t("why.rule") }));
  });
  whyTimer = setTimeout(() => explain(""), WHY_MS); // also where a page that sleeps never showed it
}

/** At the end: look at the finished game's sheet, or with 0 at the result again. */
function look(number) {
  seesSheet = number;
  draw(now());
  $(number ? "done" : "see-sheet").focus();
}

// -- buttons ---------------------------------------------------------------------------------

async function press(path, where, body = {}) {
  const answer = await post(path, body);
  const text = answer === null ? t("why.unreachable") : answer.ok ? "" : answer.data.message ?? t("why.unknown");
  if (where === "why") explain(text, answer?.data?.ruling);
  else say($(where), text);
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
  draw(now());
});
$("type").addEventListener("click", () => {
  drawFaces($("faces"), now().game);
  $("typing").dataset.of = turnOf(now().game);
  say($("typing-why"), "");
  $("typing").showModal();
});
$("typing-no").addEventListener("click", () => $("typing").close());
onSubmit($("typing-form"), async (event) => {
  const roll = chosenRoll(event.target, now().game);
  if (roll === null) say($("typing-why"), t("host.roll_missing"));
  else if (await press("/api/roll", "typing-why", roll)) $("typing").close();
});
onPress($("over-leave"), () => press("/api/leave", "over-refused", { seat: ownPlayer(now()).seat }));
$("see-sheet").addEventListener("click", () => look(now().game.number));

answerFor({ player: () => ownPlayer(now()), draw: () => draw(now()), explain, handOn });
offerLanguages();
offerMenu(() => ownPlayer(now()));
addEventListener("resize", () => now() && draw(now())); // a turned phone has another room for the sentence
addEventListener("storage", () => now() && draw(now())); // in another tab the points were hidden, or shown
onLine((up) => show($("offline"), !up));
onState(draw);
start();
