// Setting the tray up: its corners dragged on the live picture, its dice named, ten rolls tried.
import { die } from "./dice.js";
import { $, attribute, el, onPress, redraw, say, show, svg } from "./dom.js";
import { now, onLine, onState, post, start } from "./live.js";
import { language, t } from "./words.js";

const PICTURE_MS = 400;
const LOOK_MS = 4_000;
const ROLLS = 10;
const STEP = 0.01; // of the picture's width, for each press of an arrow key
const COLOURS = ["white", "red", "yellow", "green", "blue"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

let setup = null;
let corners = []; // as they are dragged
let looked = []; // the six dice looked at last
let rolls = null; // {right, wrong, unread, frame}: the roll of `frame` was judged

// -- asking ----------------------------------------------------------------------------------

async function ask() {
  let answer = null;
  try {
    const response = await fetch("/api/setup", { cache: "no-store", headers: { "Page-Language": language } });
    answer = { ok: response.ok, data: await response.json() };
  } catch {
    return; // the line at the top says that the table cannot be reached
  }
  if (answer.ok) take(answer.data);
  else close(answer.data.message);
}

/** A step; what it answers, or null with the reason said where the step is. */
async function step(path, body, where) {
  const answer = await post(`/api/setup/${path}`, body);
  if (answer?.ok) return answer.data;
  say($(where), answer === null ? t("why.unreachable") : answer.data.message ?? t("why.unknown"));
  return null;
}

function close(message) {
  show($("steps"), false);
  say($("closed"), message ?? t("why.unknown"));
}

function take(state) {
  const isFirst = setup === null;
  setup = state;
  show($("steps"), true);
  say($("closed"), state.change?.text ?? "");
  attribute($("picture"), "width", state.size[0]); // so that nothing jumps when it comes
  attribute($("picture"), "height", state.size[1]);
  attribute($("overlay"), "viewBox", `0 0 ${state.size[0]} ${state.size[1]}`);
  say($("light"), state.faults.map((fault) => fault.text).join(" ") || t("setup.light_ok"));
  if (!isFirst) return;
  if (state.corners) setCorners(state.corners);
  else void propose();
  if (state.held) say($("exposure-said"), t("setup.held"));
  if (state.dice.length) say($("dice-said"), t("setup.kept"));
}

// -- the picture and the corners on it -------------------------------------------------------

async function film() {
  for (;;) {
    if (document.visibilityState === "visible" && setup) {
      const next = new Image();
      next.src = `/api/frame.jpg?at=${Date.now()}`;
      if (await next.decode().then(() => true, () => false)) $("picture").src = next.src;
    }
    await new Promise((resolve) => setTimeout(resolve, PICTURE_MS));
  }
}

function setCorners(points) {
  corners = points.map((point) => [...point]);
  $("keep-corners").disabled = corners.length < 3;
  drawOverlay();
}

function drawOverlay() {
  const [width] = setup.size;
  redraw($("overlay"), [corners.length, looked, setup.size], () => [
    svg("polygon", { class: "floor", "stroke-width": width / 200 }),
    ...looked.map(({ corners: face }) => svg("polygon", { class: "face", points: face.join(" "), "stroke-width": width / 220 })),
    ...looked.map(({ centre: [x, y] }, n) => number(x, y, n + 1, width / 22)),
    ...corners.map((_, n) => handle(n, width)),
  ]);
  place();
}

function number(x, y, n, size) {
  const text = svg("text", { x, y: y + size / 3, "font-size": size, "text-anchor": "middle" });
  text.textContent = n;
  return text;
}

function handle(n, width) {
  const label = t("setup.corner", { number: n + 1, count: corners.length });
  const group = svg("g", { class: "corner", tabindex: 0, role: "button", "aria-label": label });
  group.append(svg("circle", { class: "reach", r: width / 18 }), svg("circle", { class: "dot", r: width / 50, "stroke-width": width / 200 }));
  group.addEventListener("pointerdown", (event) => group.setPointerCapture(event.pointerId));
  group.addEventListener("pointermove", (event) => {
    if (!group.hasPointerCapture(event.pointerId)) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform($("overlay").getScreenCTM().inverse());
    move(n, at.x, at.y);
  });
  group.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    const far = width * STEP * (event.shiftKey ? 5 : 1);
    move(n, corners[n][0] + way[0] * far, corners[n][1] + way[1] * far);
  });
  return group;
}

function move(n, x, y) {
  const [width, height] = setup.size;
  corners[n] = [Math.min(Math.max(x, 0), width), Math.min(Math.max(y, 0), height)];
  say($("corners-said"), "");
  place();
}

function place() {
  attribute($("overlay").querySelector(".floor"), "points", corners.map((point) => point.join(",")).join(" "));
  $("overlay").querySelectorAll(".corner").forEach((group, n) => attribute(group, "transform", `translate(${corners[n].join(" ")})`));
}

async function propose() {
  const found = await step("propose", {}, "corners-said");
  if (found === null) return;
  const [width, height] = setup.size;
  const inset = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]].map(([x, y]) => [x * width, y * height]);
  setCorners(found.corners ?? inset);
  say($("corners-said"), found.corners ? "" : t("setup.no_tray"));
}

async function keep(path, body, where, said) {
  const state = await step(path, body, where);
  if (state === null) return false;
  take(state);
  say($(where), t(said));
  return true;
}

// -- the dice --------------------------------------------------------------------------------

async function look() {
  const found = await step("look", {}, "dice-said");
  looked = found?.dice ?? [];
  $("keep-dice").disabled = !looked.length;
  drawOverlay();
  if (found) say($("dice-said"), "");
  redraw($("dice"), looked, () => looked.map((one, n) => {
    const options = COLOURS.map((colour) => el("option", { value: colour, selected: colour === one.plays, text: t(`colour.${colour}`) }));
    return el("label", {}, t("setup.die_plays", { number: n + 1 }), el("select", {}, ...options));
  }));
}

async function keepDice() {
  const plays = [...$("dice").querySelectorAll("select")].map((select) => select.value);
  if (!(await keep("dice", { plays }, "dice-said", "setup.kept"))) return;
  looked = []; // they may be taken out now
  $("keep-dice").disabled = true;
  redraw($("dice"), looked, () => []);
  drawOverlay();
}

// -- ten rolls -------------------------------------------------------------------------------

const done = () => rolls.right + rolls.wrong + rolls.unread;

function begin() {
  rolls = { right: 0, wrong: 0, unread: 0, frame: now()?.tray.frame ?? 0 };
  drawRolls(now());
}

function judge(verdict) {
  rolls[verdict] += 1;
  rolls.frame = now().tray.frame;
  drawRolls(now());
}

function drawRolls({ tray, table, game }) {
  show($("throw"), table.can_throw);
  show($("throw-again"), table.can_throw && rolls !== null && done() < ROLLS);
  for (const id of ["throw", "throw-again"]) $(id).disabled = (game?.action ?? 0) > 0;
  const isOn = rolls !== null && done() < ROLLS;
  const isNew = isOn && tray.frame !== rolls.frame;
  show($("verdicts"), isOn);
  $("right").disabled = $("wrong").disabled = !(isNew && tray.status === "ok");
  $("unread").disabled = !isNew;
  const seen = isNew && tray.status === "ok" ? tray.dice.filter((one) => one.in_tray) : [];
  redraw($("seen"), seen.map(({ colour, value }) => [colour, value]), () => seen.map(({ colour, value }) => el("span", { class: `place is-${colour}` }, die(colour, value))));
  if (rolls === null) return;
  const { right, wrong, unread } = rolls;
  if (isOn) return say($("rolls-said"), `${t("setup.roll", { number: done() + 1, count: ROLLS })} ${isNew && tray.status !== "ok" ? tray.text : ""}`.trim());
  const advice = wrong ? t("setup.advice_wrong") : unread > 2 ? t("setup.advice_unread") : "";
  say($("rolls-said"), `${t("setup.report", { total: ROLLS, right, wrong, unread })} ${advice}`.trim());
}

onPress($("propose"), propose);
onPress($("keep-corners"), () => keep("corners", { corners }, "corners-said", "setup.kept"));
onPress($("hold"), async () => {
  await keep("exposure", {}, "exposure-said", "setup.held");
  if (setup && !setup.held) say($("exposure-said"), t("setup.not_held"));
});
onPress($("look"), look);
onPress($("keep-dice"), keepDice);
onPress($("begin"), begin);
for (const id of ["throw", "throw-again"]) onPress($(id), () => post("/api/throw"));
for (const id of ["right", "wrong", "unread"]) onPress($(id), () => judge(id));
onPress($("forget"), async () => {
  setup = null;
  await keep("forget", {}, "closed", "setup.forgotten");
});
onLine((up) => show($("offline"), !up));
onState(drawRolls);
start();
void ask();
void film();
setInterval(() => document.visibilityState === "visible" && ask(), LOOK_MS);
