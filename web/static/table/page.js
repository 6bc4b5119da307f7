// The table view: the tray, announcements, open answers and all scores.
import { Countdown } from "../lib/countdown.js";
import { keepAwake } from "../lib/awake.js";
import { chooseTheme } from "../lib/device.js";
import { $, el, keepFocus, onPress, redraw, setAttribute, setOff, setText, show } from "../lib/dom.js";
import { nameButton, offerFullScreen } from "../lib/fullscreen.js";
import { onState, post, reasonOf, start, turnShown } from "../lib/live.js";
import { SEATS, namesOf } from "../lib/seats.js";
import { drawPicture } from "../lib/tray-picture.js";
import { language, t } from "../lib/words.js";
import { drawDoor } from "./door.js";
import { drawNews, isBlind, troubleOf } from "./news.js";
import { drawPeople, drawRows } from "./people.js";
import { followReport } from "./report.js";
import { offerSound, sound } from "./sound.js";

const STILL_MS = 3_000;
const ONE_SCREEN = matchMedia("(min-height: 440px) and (min-width: 600px)");

const isWatching = document.querySelector("main").dataset.watching !== undefined; // looks on, changes nothing
const isOwnScreen = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname); // of the table's computer
const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
const countdown = new Countdown(drawCountdown);
let pointerTimer = 0;

function draw(state) {
  const { game, seats, table, announcement } = state;
  if (table.language !== language && !isWatching) return location.reload(); // this screen uses the table's language
  const nameOf = namesOf(game, seats);
  const isOver = game?.over ?? false;
  const goOn = keepFocus();
  const taken = t("table.taken", { count: seats.length, most: SEATS });
  document.querySelector("main").classList.toggle("is-over", isOver);
  setText($("now"), game === null ? taken : nowText(game, nameOf));
  drawDoor(state);
  drawFaults(state);
  const isStranger = state.me.needs_code && (isWatching || state.me.pairing !== null);
  if (isStranger) drawPicture(withoutPicture(state), "table.picture_stays");
  else drawPicture(state);
  drawTray(state, nameOf);
  drawNews(state, nameOf);
  countdown.follow(state);
  drawCountdown();
  setText($("trouble"), troubleOf(state)); // the headline is redrawn, too
  // announced once, though the news is redrawn with each answer, and the same once more is announced anew
  redraw($("said"), announcement, () => [announcement?.text ?? ""]);
  drawRows(game, nameOf);
  drawPeople(state);
  followReport(state);
  keepAwake(isOwnScreen || (game !== null && !isOver));
  sound(state);
  fit();
  goOn();
}

/** The picture is for devices that were let in. */
const withoutPicture = (state) => ({ ...state, tray: { ...state.tray, frame: 0 } });

/** Say for how long answers may still change; the text fits where the one without seconds did. */
function drawCountdown() {
  const asked = document.querySelector("#news .asked[data-answered]");
  const { seconds } = countdown;
  if (asked) setText(asked, seconds ? t("table.closes_in", { seconds }) : t("table.all_answered"));
}

/** Shrink the news until everything fits the screen; if no size fits, the page scrolls. */
function fit() {
  for (const size of ONE_SCREEN.matches ? [null, "tight", "tighter", "tightest", "bare"] : [null]) {
    setAttribute($("news"), "data-size", size);
    if (document.documentElement.scrollHeight <= innerHeight) return;
  }
  setAttribute($("news"), "data-size", null);
}

function nowText(game, nameOf) {
  if (game.over) return t("over.title");
  return `${t("table.turn", { turn: game.turn })} · ${nameOf(game.active)}`;
}

/** List faults of the equipment; the headline has the camera's while a roll is due, the host's page the copy's. */
function drawFaults(state) {
  const faults = state.faults.filter(({ part }) => part !== "copy" && (part !== "camera" || !isBlind(state)));
  redraw($("faults"), faults, () => faults.map((fault) => el("li", { text: fault.text })));
}

function drawTray(state, nameOf) {
  const { tray, table, game, me } = state;
  const isRoll = game === null || game.phase === "roll";
  setText($("tray-text"), trayText(state, nameOf));
  setAttribute($("tray-text"), "data-status", isRoll && game && !troubleOf(state) ? tray.status : null);
  const isAllowed = me.confirms && !isWatching;
  show($("tray-buttons"), isAllowed && !table.typed_rolls && (table.can_throw || table.on_screen_button));
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button);
  setOff($("throw"), game !== null && game.action > 0);
  setOff($("confirm"), game?.phase !== "roll");
  $("confirm").classList.toggle("is-ready", tray.confirmable);
  $("throw").classList.toggle("is-ready", isRoll && game !== null && !tray.confirmable);
}

/** Return the line below the picture; trouble stands in the headline and is not repeated. */
function trayText(state, nameOf) {
  const { tray, game } = state;
  const note = tray.note ?? "";
  if (troubleOf(state)) return note;
  if (game?.over) return t("over.title");
  if (game === null || game.phase === "roll") {
    const isFault = state.faults.some((fault) => fault.part === "camera");
    return [isFault ? "" : tray.text, note].filter(Boolean).join(" ");
  }
  const text = t(game.action === 1 ? "table.action1" : "table.action2", { name: nameOf(game.active) });
  return [text, note].filter(Boolean).join(" ");
}

/** Hide the pointer until somebody moves it: it would lie on the code to scan. */
function hidePointer() {
  document.documentElement.classList.add("is-still");
}

function showPointer() {
  document.documentElement.classList.remove("is-still");
  clearTimeout(pointerTimer);
  pointerTimer = setTimeout(hidePointer, STILL_MS);
}

async function press(path, body = {}) {
  const why = reasonOf(await post(path, body));
  if (why) setText($("tray-text"), why);
}

onPress($("throw"), () => press("/api/throw"));
onPress($("confirm"), () => press("/api/press", turnShown()));
addEventListener("resize", fit);
addEventListener("mousemove", showPointer);
hidePointer();
onState(draw);
if (!isWatching) offerSound();
nameButton($("theme"), t(isDark ? "theme.light" : "theme.dark"));
show($("theme"), true);
$("theme").addEventListener("click", () => chooseTheme(isDark ? "light" : "dark"));
offerFullScreen();
start(isWatching ? "" : "table");
