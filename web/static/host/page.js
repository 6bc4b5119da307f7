// The host's page: run the game; every step shows its effects first.
import { openDialog, confirmFirst, closeIfOutdated, request } from "./dialog.js";
import {
  $,
  setAttribute,
  el,
  keepFocus,
  focusOn,
  onPress,
  onSubmit,
  pressButton,
  redraw,
  setText,
  show,
} from "../lib/dom.js";
import { drawGallery } from "./gallery.js";
import { drawBar, drawDice } from "./dice.js";
import { drawScores, drawSeats } from "./seats.js";
import { offerTabs } from "./tabs.js";
import { offerDevice } from "../lib/device.js";
import { latest, onState, post, start, turnShown } from "../lib/live.js";
import { namesOf } from "../lib/seats.js";
import { drawPicture } from "../lib/tray-picture.js";
import { t } from "../lib/words.js";

const SETTINGS = [
  ["hints", "hints"],
  ["sound", "sound"],
  ["take-back", "take_back"],
  ["chances", "chances"],
  ["share-names", "share_names"],
  ["share-pictures", "share_pictures"],
  ["say-amount", "say"],
  ["volume", "volume"],
  ["speed", "words_per_minute"],
  ["table-language", "language"],
];
const changed = new Map(); // setting element -> its newest change
let hasAsked = false;
let shownAt = ""; // the step of the game shown before
let offeredAfter = null; // number of the game that the form for the next one offers again

function draw(state) {
  const { game, seats, table, me } = state;
  const leads = me.host && table.hosted;
  const step = `${game?.number} ${game?.turn} ${game?.phase}`;
  if (step !== shownAt) for (const id of ["why", "roll-why"]) setText($(id), ""); // refusals of an earlier step
  shownAt = step;
  closeIfOutdated();
  const goOn = keepFocus();
  const isLet = leads && !$("gate").hidden;
  show($("gate"), !leads && !(me.host && !table.hosted));
  show($("desk"), leads);
  if (isLet) focusOn($("h-game"));
  redraw($("faults"), state.faults, () => state.faults.map((fault) => el("li", { text: fault.text })));
  if (!table.hosted && me.host && !hasAsked) {
    hasAsked = true; // the first player to open this page becomes the host
    void post("/api/host").then((answer) => {
      hasAsked = Boolean(answer?.ok); // else try again with the next snapshot
    });
  }
  if (!leads) return;
  const nameOf = namesOf(game, seats);
  const isRunning = game !== null && !game.over;
  setText($("game-text"), gameText(game, nameOf));
  show($("start-form"), !isRunning);
  show($("end"), isRunning);
  if (game && game.number !== offeredAfter) {
    offeredAfter = game.number;
    offer(game);
  }
  const first = $("first").value;
  redraw(
    $("first"),
    seats.map(({ seat, name }) => [seat, name]),
    () => [
      el("option", { value: "", text: t("host.lot") }),
      ...seats.map((seat) => el("option", { value: seat.seat, text: seat.name })),
    ],
  );
  $("first").value = first;
  if ($("first").selectedIndex < 0) $("first").value = ""; // that player has left
  drawPicture(state);
  drawDice(state);
  drawBar(state, isAsBefore(game));
  drawScores(state);
  drawSeats(state);
  drawTable(state);
  drawGallery(state);
  goOn();
}

/** Offer the same kind of game as the last one, unless it is changed. */
function offer({ variant, practice, house }) {
  const form = $("start-form").elements;
  form.variant.value = variant;
  form.practice.checked = practice;
  $("first").value = "";
  for (const box of form.house) box.checked = house.some(({ rule }) => rule === box.value);
  if (house.length) form.house[0].closest("details").open = true;
}

/** Whether the form shows the kind of the last game, with the next player to begin. */
function isAsBefore(game) {
  if (game === null) return false;
  const form = $("start-form").elements;
  const has = (rule) => game.house.some((each) => each.rule === rule);
  const isKind = form.variant.value === game.variant && form.practice.checked === game.practice;
  return isKind && !$("first").value && [...form.house].every((box) => box.checked === has(box.value));
}

function gameText(game, nameOf) {
  if (game === null) return t("host.none");
  if (game.over) return t("host.over", { number: game.number, text: game.winner_text });
  return t("host.running", { number: game.number, turn: game.turn, name: nameOf(game.active) });
}

function drawTable({ table, me }) {
  for (const [id, key] of SETTINGS) {
    const node = $(id);
    if (node.getAttribute("aria-busy") === "true" || (node.type === "range" && document.activeElement === node))
      continue;
    if (node.type === "checkbox") node.checked = table[key];
    else node.value = table[key];
  }
  show($("take-back").parentElement, !table.take_back || table.take_back_s > 0); // 0 is configured for all games
  for (const id of ["share-names", "share-pictures"]) show($(id).parentElement, table.has_broker);
  redraw($("parts"), [table, me.door], () => [
    ...fact("host.address", [table.join_url || `${location.origin}/`, table.join_name].filter(Boolean).join(" · ")),
    ...(me.door ? [...fact("table.code", me.door.code), ...fact("host.pin_short", me.door.pin)] : []),
    ...fact("host.camera", t(`host.equipment.${table.camera}`)),
    ...fact("host.button", t(`host.equipment.${table.button}`)),
  ]);
  show($("machine"), table.can_power);
  drawShare(table.join_url || `${location.origin}/`, me.door);
  const { mishaps, troubles } = table;
  show($("tricks"), mishaps.length + troubles.length > 0);
  redraw($("mishaps"), mishaps, () =>
    mishaps.map((mishap) => trick(t(`host.mishap.${mishap}`), "/api/throw", { mishap })),
  );
  redraw($("troubles"), troubles, () =>
    troubles.map((trouble) => trick(t(`host.trouble.${trouble}`), "/api/trouble", { trouble })),
  );
}

function switchMachine(step, ask, yes) {
  openDialog({
    title: t(ask),
    yes: t(yes),
    isDanger: true,
    onYes: () => request("/api/power", { step }, "ask-why"),
  });
}

/** Offer links to send to somebody in another room; the one to play holds the code of the table view. */
function drawShare(address, door) {
  redraw($("share"), [address, door?.code], () => [
    ...(door ? shareLink("host.share_seat", `${address}?code=${door.code}`) : []),
    ...shareLink("host.share_watch", `${address}watch`),
    ...shareLink("host.share_stream", `${address}stream`),
  ]);
}

const shareLink = (key, url) => [
  el("dt", { text: t(key) }),
  el("dd", {}, el("a", { class: "link", href: url, target: "_blank", text: url })),
];

const trick = (text, path, body) => pressButton({ text }, () => request(path, body, "tricks-why"));

const fact = (key, value) => [el("dt", { text: t(key) }), el("dd", { text: value })];

async function set(node, key) {
  const value =
    node.type === "checkbox" ? node.checked : node.type === "range" ? Number(node.value) : node.value;
  const own = {};
  changed.set(node, own);
  setAttribute(node, "aria-busy", "true");
  await request("/api/settings", { [key]: value });
  if (changed.get(node) !== own) return; // it was changed again meanwhile
  setAttribute(node, "aria-busy", null);
  draw(latest());
}

onSubmit($("gate-form"), () => request("/api/host", { pin: $("pin").value }, "gate-why"));
onSubmit($("pair-form"), async () => {
  if (await request("/api/pair", { code: $("pairing").value }, "pair-why")) $("pairing").value = "";
});
onSubmit($("start-form"), (event) => {
  const form = new FormData(event.target);
  const first = $("first").value;
  return request("/api/start", {
    variant: form.get("variant"),
    first: first === "" ? null : Number(first),
    house: form.getAll("house"),
    practice: form.has("practice"),
  });
});
for (const [id, key] of SETTINGS) $(id).addEventListener("change", () => set($(id), key));
onPress($("close"), () =>
  confirmFirst(t("host.close"), t("host.close_yes"), "/api/close", "close", { no: t("host.close_no") }),
);
onPress($("undo"), () =>
  confirmFirst(t("host.undo"), t("host.undo_yes"), "/api/undo", "undo", { no: t("game.type_no") }),
);
onPress($("end"), () => confirmFirst(t("host.end_ask"), t("host.end_yes"), "/api/end", "end", { isDanger: true }));
onPress($("rematch"), () =>
  openDialog({
    title: t("host.rematch_ask"),
    yes: t("over.rematch"),
    onYes: () => request("/api/rematch", {}, "ask-why"),
  }),
);
$("start-form").addEventListener("change", () => latest() && drawBar(latest(), isAsBefore(latest().game)));
onPress($("restart"), () => switchMachine("restart", "host.restart_ask", "host.restart"));
onPress($("power-off"), () => switchMachine("off", "host.power_off_ask", "host.power_off"));
onPress($("throw"), () => request("/api/throw"));
onPress($("confirm"), () => request("/api/press", turnShown()));
onPress($("say"), () => request("/api/say"));
offerDevice();
offerTabs();
onState(draw);
start();
