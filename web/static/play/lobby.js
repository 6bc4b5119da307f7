// Taking a seat, and the lobby before the game.
import { $, GUARD_MS, el, offBriefly, onPress, onSubmit, redraw, setText, show, setTextAnew } from "../lib/dom.js";
import { latest, post, reasonOf } from "../lib/live.js";
import { SEATS } from "../lib/seats.js";
import { remember, recall } from "../lib/storage.js";
import { listOf, t } from "../lib/words.js";

const scanned = new URLSearchParams(location.search).get("code");
if (scanned) {
  remember("code", scanned);
  history.replaceState(null, "", location.pathname); // a shared address must not contain the code
}
let asksForCode = false;
let askedAt = 0;

export function drawJoin({ seats, game, me }) {
  const names = seats.map((seat) => seat.name);
  const text = names.length ? t("join.seated", { names: listOf(names) }) : t("join.nobody");
  // before the first roll everybody may join
  const isOn = game && !game.over && (game.turn > 1 || game.phase !== "roll");
  const more = seats.length >= SEATS ? t("join.full") : isOn ? t("join.running") : "";
  setText($("join-seats"), `${text} ${more}`.trim());
  show($("join-watch"), game !== null && !game.over);
  show($("code-field"), me.needs_code && (asksForCode || !recall("code")));
  drawClaims("claims", seats, me, "join-why");
}

/** Draw a button for each seat that the host hands over. */
function drawClaims(where, seats, me, why) {
  const offered = seats.filter((seat) => seat.offered && !me.seats.includes(seat.seat));
  redraw($(where), offered, () => offered.map((seat) => claimButton(seat, why)));
}

function claimButton(seat, why) {
  const text = t("join.take", { name: seat.name });
  const button = el("button", { type: "button", class: "big", text });
  onPress(button, () => ask("/api/claim", why, { seat: seat.seat, ...code() }));
  return button;
}

const code = () => {
  const typed = $("code").value.trim();
  const known = typed || recall("code");
  return known ? { code: known } : {};
};

export function drawLobby({ seats, game, me, table }) {
  const own = seats.filter((seat) => me.seats.includes(seat.seat));
  const isRunning = game !== null && !game.over;
  const key = isRunning ? "lobby.running" : me.host ? "lobby.welcome" : "lobby.welcome.guest";
  setText($("lobby-lead"), t(key, { name: listOf(own.map((seat) => seat.name)) }));
  drawClaims("lobby-claims", seats, me, "lobby-why");
  const others = seats.filter((seat) => !own.includes(seat)).map((seat) => seat.name);
  setText($("lobby-said"), others.length ? t("join.seated", { names: listOf(others) }) : "");
  redraw($("lobby-seats"), [seats, me.seats], () => seats.map((seat) => seatItem(seat, me.seats)));
  show($("lobby-watch"), isRunning);
  show($("lobby-game"), !isRunning && me.host);
  show($("lobby-lead-it"), !me.host);
  show($("leave"), own.length === 1);
  show($("another"), seats.length < SEATS);
  show($("lobby-hints"), !table.hints);
}

function seatItem(seat, own) {
  const isOwn = own.includes(seat.seat);
  const note = isOwn ? t("lobby.you") : seat.online ? "" : t("lobby.away");
  const item = el(
    "li",
    { class: seat.online || isOwn ? "is-here" : "" },
    el("bdi", { text: seat.name }),
    el("span", { class: "note", text: note }),
  );
  if (!isOwn || own.length === 1) return item;
  const leave = el("button", {
    type: "button",
    class: "tool",
    text: t("lobby.leave_one"),
    "aria-label": t("lobby.leave_of", { name: seat.name }),
  });
  if (Date.now() - askedAt < GUARD_MS) offBriefly(leave);
  onPress(leave, () => ask("/api/leave", "lobby-why", { seat: seat.seat }));
  item.append(leave);
  return item;
}

/** Send a request; show a refusal in element `where`. */
async function ask(path, where, body = {}) {
  askedAt = Date.now();
  const answer = await post(path, body);
  setTextAnew($(where), reasonOf(answer));
  if (answer?.data.error === "BAD_CODE") {
    asksForCode = true;
    if (latest()) drawJoin(latest());
    $("code").focus();
  }
  return Boolean(answer?.ok);
}

async function join(field, where, more) {
  if (await ask("/api/join", where, { name: field.value.trim(), ...code(), ...more })) field.value = "";
  else if (document.activeElement !== $("code")) field.focus();
}

onSubmit($("join-form"), () => join($("name"), "join-why", {}));
onSubmit($("another-form"), () => join($("another-name"), "another-why", { another: true }));
onPress($("start"), () =>
  ask("/api/start", "lobby-why", { variant: document.querySelector("[name=variant]:checked").value }),
);
onPress($("leave"), () => ask("/api/leave", "lobby-why"));
