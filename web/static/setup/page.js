// Tray set-up: drag the corners on the live picture, name the dice, try ten rolls.
import { $, setAttribute, el, loaded, onPress, redraw, setOff, setText, show, svg, setTextAnew } from "../lib/dom.js";
import { get, latest, onState, post, reasonOf, start } from "../lib/live.js";
import { t } from "../lib/words.js";
import { areBegun, begin, drawRolls, forget, judge } from "./rolls.js";

const PICTURE_MS = 400;
const LOOK_MS = 4_000;
const STEP = 0.01; // share of the picture's width per arrow key
const COLOURS = ["white", "red", "yellow", "green", "blue"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const STEPS = ["corners", "exposure", "dice", "rolls"];
const POINT = 14; // a corner's handle has this part of the picture's width as radius

let setup = null;
let corners = []; // of the tray, in picture pixels
let looked = []; // the six dice seen last
let lookNumber = null;
let faults = ""; // camera faults

// -- asking

async function ask() {
  if (!latest()?.me.host) return; // the server refuses everybody else
  if (latest().table.camera === "none") return close(t("setup.no_camera"));
  const answer = await get("/api/setup");
  if (answer === null) return; // the banner says that the server is unreachable
  if (answer.ok) take(answer.data);
  else close(reasonOf(answer));
}

/** Send a step; return its reply, or show the reason and return null. */
async function step(path, body, where) {
  setText($("forgot"), ""); // it may not hold any longer
  const answer = await post(`/api/setup/${path}`, body);
  if (answer?.ok) return answer.data;
  setTextAnew($(where), reasonOf(answer));
  return null;
}

function close(message) {
  show($("steps"), false);
  setText($("closed"), message);
}

function take(state, isFirst = setup === null) {
  const isResized = setup !== null && String(setup.size) !== String(state.size);
  setup = state;
  // a refusal for want of a picture holds no longer
  if ($("steps").hidden && !isFirst) for (const name of ["corners", "exposure"]) setText($(`${name}-said`), "");
  show($("steps"), true);
  setText($("closed"), "");
  $("frame").style.aspectRatio = state.size.join(" / "); // reserve the picture's room
  setAttribute($("overlay"), "viewBox", `0 0 ${state.size[0]} ${state.size[1]}`);
  drawLight();
  const isKept = { corners: state.corners !== null, exposure: state.held, dice: state.dice.length > 0 };
  for (const [name, is] of Object.entries(isKept)) show($(`kept-${name}`), is);
  if (isFirst) unfold(STEPS.find((name) => !isKept[name]));
  if (isResized) lookAway(); // another camera's pictures: corners and dice lie elsewhere
  if (!isFirst && !isResized) return;
  if (state.corners) setCorners(state.corners);
  else void propose();
}

/** Show problems of camera or light below the picture; camera faults come first. */
function drawLight() {
  if (!setup) return;
  const wrong =
    faults || [setup.change?.text, ...setup.faults.map((fault) => fault.text)].filter(Boolean).join(" ");
  setText($("light"), wrong || t("setup.light_ok"));
  $("light").classList.toggle("is-wrong", wrong !== "");
}

/** Open one step and close the others. */
function unfold(name) {
  for (const each of STEPS) $(`step-${each}`).open = each === name;
}

/** Open a step and focus it. */
function turnTo(name) {
  unfold(name);
  $(`step-${name}`).querySelector("summary").focus({ preventScroll: true });
  bring(name);
}

/** Turn to the next step, unless the host has turned to another one before the reply came. */
function goOn(from, to) {
  if ($(`step-${from}`).open) turnTo(to);
}

/** Scroll a step right below the picture, or beside it. */
const bring = (name) => $(`step-${name}`).scrollIntoView({ block: "start" });

/** Keep what is scrolled to, or focused, from lying behind the picture. With very large type the picture scrolls
 * away to leave room for the steps. */
new ResizeObserver(() => {
  const { right, height } = $("view").getBoundingClientRect();
  const isTall = height > 0.6 * innerHeight;
  $("view").classList.toggle("is-tall", isTall);
  const isBeside = $("step-corners").getBoundingClientRect().left >= right;
  document.documentElement.style.scrollPaddingTop = `${isTall || isBeside ? 12 : height + 18}px`;
}).observe($("view"));

// -- the picture and the corners on it

async function film() {
  for (;;) {
    if (document.visibilityState === "visible" && setup) {
      const next = await loaded(`/api/frame.jpg?at=${Date.now()}`);
      if (next) $("picture").src = next.src;
    }
    await new Promise((resolve) => setTimeout(resolve, PICTURE_MS));
  }
}

function setCorners(points) {
  corners = points.map((point) => [...point]);
  setOff($("keep-corners"), corners.length < 3);
  drawOverlay();
}

function drawOverlay() {
  const [width] = setup.size;
  const isDragged = $("step-corners").open;
  redraw($("overlay"), [isDragged, corners.length, looked, setup.size], () => [
    svg("polygon", { class: "floor", "stroke-width": width / 200 }),
    ...looked.map(({ corners: face }) =>
      svg("polygon", { class: "face", points: face.join(" "), "stroke-width": width / 220 }),
    ),
    ...looked.map(({ centre: [x, y] }, n) => number(x, y, n + 1, width / 22)),
    ...(isDragged ? corners.map((_, n) => handle(n, width)) : []),
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
  group.append(
    svg("circle", { class: "reach", r: width / POINT }),
    svg("circle", { class: "dot", r: width / 50, "stroke-width": width / 200 }),
  );
  let grip = null; // offset from finger to corner
  // a shape of an SVG heeds no touch-action: without this the page scrolls, which ends the drag
  group.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  group.addEventListener("pointerdown", (event) => {
    group.setPointerCapture(event.pointerId);
    const at = placeOf(event);
    grip = [corners[n][0] - at.x, corners[n][1] - at.y];
  });
  group.addEventListener("pointermove", (event) => {
    if (!group.hasPointerCapture(event.pointerId)) return;
    const at = placeOf(event);
    move(n, at.x + grip[0], at.y + grip[1]);
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

const placeOf = ({ clientX, clientY }) =>
  new DOMPoint(clientX, clientY).matrixTransform($("overlay").getScreenCTM().inverse());

function move(n, x, y) {
  const [width, height] = setup.size;
  corners[n] = [Math.min(Math.max(x, 0), width), Math.min(Math.max(y, 0), height)];
  setText($("corners-said"), "");
  place();
}

function place() {
  setAttribute(
    $("overlay").querySelector(".floor"),
    "points",
    corners.map((point) => point.join(",")).join(" "),
  );
  $("overlay")
    .querySelectorAll(".corner")
    .forEach((group, n) => setAttribute(group, "transform", `translate(${corners[n].join(" ")})`));
}

async function propose() {
  const found = await step("propose", {}, "corners-said");
  if (found === null) return;
  const [width, height] = setup.size;
  const inset = [
    [0.1, 0.1],
    [0.9, 0.1],
    [0.9, 0.9],
    [0.1, 0.9],
  ].map(([x, y]) => [x * width, y * height]);
  setCorners(found.corners ?? inset);
  setText($("corners-said"), found.corners ? "" : t("setup.no_tray"));
}

/** Save a step's result; true on success. */
async function keep(path, body, where) {
  const state = await step(path, body, where);
  if (state === null) return false;
  setText($(where), "");
  take(state);
  return true;
}

async function keepCorners() {
  if (await keep("corners", { corners }, "corners-said")) goOn("corners", "exposure");
}

async function hold() {
  if (!(await keep("exposure", {}, "exposure-said"))) return;
  if (setup.held && Object.keys(setup.controls).length) goOn("exposure", "dice");
  else setText($("exposure-said"), t("setup.not_held"));
}

// -- the dice

async function look() {
  const found = await step("look", {}, "dice-said");
  looked = found?.dice ?? [];
  lookNumber = found?.look ?? null;
  setOff($("keep-dice"), !looked.length);
  drawOverlay();
  const odd = looked.flatMap((one, n) => (one.odd ? [t("setup.die_odd", { number: n + 1 })] : []));
  if (found) setText($("dice-said"), odd.join(" "));
  redraw($("dice"), looked, () =>
    looked.map((one, n) => {
      const options = COLOURS.map((colour) =>
        el("option", { value: colour, selected: colour === one.plays, text: t(`colour.${colour}`) }),
      );
      return el("label", {}, t("setup.die_plays", { number: n + 1 }), el("select", {}, ...options));
    }),
  );
}

async function keepDice() {
  const plays = [...$("dice").querySelectorAll("select")].map((select) => select.value);
  if (!(await keep("dice", { plays, look: lookNumber }, "dice-said"))) return;
  lookAway(); // the dice may be taken out now
  goOn("dice", "rolls");
}

function lookAway() {
  looked = [];
  setOff($("keep-dice"), true);
  redraw($("dice"), looked, () => []);
  drawOverlay();
}

async function throwDice(where) {
  const why = reasonOf(await post("/api/throw"));
  if (why) setTextAnew($(where), why);
}

// -- what is pressed

onPress($("propose"), propose);
onPress($("keep-corners"), keepCorners);
onPress($("hold"), hold);
onPress($("look"), look);
onPress($("keep-dice"), keepDice);
onPress($("again"), () => {
  begin();
  turnTo("rolls"); // the pressed button is gone
});
onPress($("throw"), () => {
  lookAway();
  setText($("dice-said"), "");
  return throwDice("dice-said");
});
onPress($("throw-again"), () => throwDice("rolls-said"));
for (const id of ["right", "wrong", "unread"])
  onPress($(id), () => judge(id) && turnTo("rolls")); // the verdict buttons are gone
for (const button of document.querySelectorAll("[data-next]"))
  onPress(button, () => turnTo(button.dataset.next));
onPress($("forget"), async () => {
  const state = await step("forget", {}, "forgot");
  if (state === null) return;
  forget();
  take(state, true);
  setText($("forgot"), t("setup.forgotten"));
});
for (const name of STEPS)
  $(`step-${name}`)
    .querySelector("summary")
    .addEventListener("click", () => requestAnimationFrame(() => bring(name)));
$("step-corners").addEventListener("toggle", () => setup && drawOverlay());
$("step-rolls").addEventListener("toggle", () => $("step-rolls").open && !areBegun() && begin());
onState((state) => {
  if (!state.me.host) close(t("not_host"));
  else if (setup === null) void ask();
  faults = state.faults
    .filter((fault) => fault.part === "camera")
    .map((fault) => fault.text)
    .join(" ");
  drawLight();
  if (!areBegun() && $("step-rolls").open) begin();
  else drawRolls(state);
});
start();
void film();
setInterval(() => document.visibilityState === "visible" && ask(), LOOK_MS);
