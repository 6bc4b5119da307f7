// The table view: the tray, announcements, open answers and all scores.
import { lockIcon, rollOf, sign } from "../lib/dice.js";
import { $, setAttribute, el, onPress, redraw, setText, show, svg } from "../lib/dom.js";
import { latest, onConnection, onState, post, start } from "../lib/live.js";
import { podium } from "../lib/podium.js";
import { listOf, capital, language, numeral, t } from "../lib/words.js";

const SEATS = 5;
const LONG_NAME = 9; // letters beside the points with five players
const VERY_LONG_NAME = 13;
const ONE_SCREEN = matchMedia("(orientation: landscape) and (min-height: 561px)");
const SURE = 0.9;
const FILM_MS = 120;
const NEWS = new Set(["closing", "closed", "miss", "undone", "refused"]);
const READ = new Set(["ok", "uncertain", "cocked", "extra", "missing"]);
const TROUBLE = new Set([
  "obstructed",
  "cocked",
  "missing",
  "extra",
  "uncertain",
  "dark",
  "blocked",
  "frozen",
  "lost",
]);
let wantedPicture = ""; // address of the picture to show
let shownPicture = ""; // address of the picture shown
let isFilming = false;

function draw(state) {
  if (state.table.language !== language) return location.reload(); // this screen uses the table's language
  const nameOf = (seat) =>
    [...(state.game?.players ?? []), ...state.seats].find((each) => each.seat === seat)?.name ?? `#${seat + 1}`;
  const isLobby = state.game === null;
  document.querySelector("main").classList.toggle("is-over", state.game?.over ?? false);
  setText(
    $("now"),
    isLobby ? t("table.taken", { count: state.seats.length, most: SEATS }) : nowText(state.game, nameOf),
  );
  drawDoor(state);
  redraw($("faults"), state.faults, () => state.faults.map((fault) => el("li", { text: fault.text })));
  drawTray(state);
  drawNews(state, nameOf);
  setText($("said"), state.announcement?.text ?? ""); // announced once, though the news is redrawn with each answer
  drawRows(state.game, nameOf);
  drawPeople(state);
  fit();
}

/** Shrink the news until everything fits the screen; if no size fits, the page scrolls. */
function fit() {
  for (const size of ONE_SCREEN.matches ? [null, "tight", "tighter", "tightest"] : [null]) {
    setAttribute($("news"), "data-size", size);
    if (document.documentElement.scrollHeight <= innerHeight) return;
  }
  setAttribute($("news"), "data-size", null);
}

function nowText(game, nameOf) {
  if (game.over) return t("over.title");
  return `${t("table.turn", { turn: game.turn })} · ${nameOf(game.active)}`;
}

/** Show address, code and PIN in small letters while the large code is hidden. */
function drawDoor({ me, table, game }) {
  show($("door"), game !== null && me.door !== null);
  if (!me.door) return;
  setText(
    $("door"),
    `${shortOf(addressOf(table))} · ${t("table.code")} ${me.door.code} · ${t("table.pin", { pin: me.door.pin })}`,
  );
}

// -- the tray --------------------------------------------------------------------------------

function drawTray(state) {
  const { tray, table, game, epoch } = state;
  watchMoving(tray);
  const source = tray.frame > 0 ? `/api/frame.jpg?n=${tray.frame}&run=${epoch}` : "";
  if (isFilming) {
    // the live picture is shown
  } else if (source !== wantedPicture) {
    wantedPicture = source;
    if (source) void loadPicture(source, state);
    else show($("picture"), false);
  } else if (source === shownPicture) drawReading(state);
  show($("reading"), Boolean(source));
  setText($("no-picture"), source ? "" : t(table.camera === "none" ? "table.no_camera" : "table.no_picture"));
  show($("tag"), table.camera === "simulated" || table.camera === "lost");
  setText($("tag"), t(table.camera === "lost" ? "table.lost" : "table.simulated"));
  const isRoll = game === null || game.phase === "roll";
  const text =
    isRoll || game.over
      ? tray.text
      : t(game.action === 1 ? "table.action1" : "table.action2", { name: activeName(game) });
  setText($("tray-text"), game?.over ? t("over.title") : [text, tray.note].filter(Boolean).join(" "));
  setAttribute($("tray-text"), "data-status", isRoll && game ? tray.status : null);
  show($("tray-buttons"), !table.typed_rolls && (table.can_throw || table.on_screen_button));
  show($("throw"), table.can_throw);
  show($("confirm"), table.on_screen_button);
  $("throw").disabled = game !== null && game.action > 0;
  $("confirm").disabled = game?.phase !== "roll";
  $("confirm").classList.toggle("is-ready", tray.confirmable);
  $("throw").classList.toggle("is-ready", isRoll && game !== null && !tray.confirmable);
}

const activeName = (game) => game.players.find((player) => player.seat === game.active)?.name ?? "";

/** Show live pictures while dice roll. */
function watchMoving({ status, frame }) {
  const isMoving = frame > 0 && ["moving", "reading"].includes(status);
  $("reading").classList.toggle("is-old", isMoving);
  if (isMoving === isFilming) return;
  isFilming = isMoving;
  if (isMoving) void film();
}

async function film() {
  while (isFilming) {
    const next = new Image();
    next.src = `/api/frame.jpg?at=${Date.now()}`;
    const isThere = await next.decode().then(
      () => true,
      () => false,
    );
    if (isThere && isFilming) {
      $("picture").src = next.src;
      show($("picture"), true);
      wantedPicture = shownPicture = ""; // show the reading's picture when the dice rest
    }
    await new Promise((resolve) => setTimeout(resolve, FILM_MS));
  }
}

/** Load a picture; change it together with its outlines. */
async function loadPicture(source, state) {
  const next = new Image();
  next.src = source;
  try {
    await next.decode();
  } catch {
    if (source === wantedPicture) wantedPicture = ""; // try again with the next snapshot
    return;
  }
  if (source !== wantedPicture) return;
  shownPicture = source;
  $("picture").src = source;
  show($("picture"), true);
  drawReading(state);
}

function drawReading({ tray, game, me, table }) {
  const [width, height] = tray.size;
  const isTappable =
    me.host && table.hosted && game !== null && !game.over && (game.action > 0 || READ.has(tray.status));
  setAttribute($("reading"), "viewBox", `0 0 ${width || 4} ${height || 3}`);
  const words = tray.dice.map((die) =>
    t("die", { colour: wordOf(die), value: die.value ?? t("table.unreadable") }),
  );
  setAttribute($("reading"), "aria-label", words.join(", ") || t("table.picture"));
  setAttribute($("reading"), "role", isTappable ? "group" : "img");
  redraw($("reading"), [tray.dice, tray.size, isTappable], () =>
    tray.dice.map((die, n) => {
      const drawn = outline(
        die,
        tray.dice.filter((other) => other !== die),
        width || 640,
        height || 480,
      );
      if (!isTappable || !die.in_tray) return drawn;
      return svg(
        "a",
        { href: `/host#die=${n}`, "aria-label": t("host.correct_die", { die: words[n] }) },
        drawn,
      ); // opens the correction
    }),
  );
}

const wordOf = (die) => (die.colour ? t(`colour.${die.colour}`) : t("table.unreadable"));

/** Draw a die's outline, and its value and colour on the side away from other dice. */
function outline(die, others, width, height) {
  const unit = width / 640;
  const [x, y] = die.centre;
  const [dx, dy] = wayOut(die, others);
  const reach = Math.max(...die.corners.map(([cx, cy]) => Math.hypot(cx - x, cy - y))) + 20 * unit;
  const isDoubtful =
    !die.by_hand &&
    (die.cocked || !die.in_tray || die.value === null || die.colour === null || die.confidence < SURE);
  const label = svg("text", {
    x: Math.min(Math.max(x + dx * reach, 40 * unit), width - 40 * unit),
    y: Math.min(Math.max(y + dy * reach + 8 * unit, 26 * unit), height - 8 * unit),
    "font-size": 25 * unit,
    "text-anchor": dx > 0.5 ? "start" : dx < -0.5 ? "end" : "middle",
  });
  const word = svg("tspan", { class: "word", "font-size": 18 * unit });
  word.textContent = ` ${wordOf(die)}`;
  label.append(String(die.value ?? t("table.unreadable")), word);
  const points = die.corners.map((corner) => corner.join(",")).join(" ");
  return svg(
    "g",
    { class: isDoubtful ? "is-doubtful" : "" },
    svg("polygon", { points, "stroke-width": 4 * unit }),
    label,
  );
}

/** Return the direction away from the other dice, weighted by nearness. */
function wayOut(die, others) {
  let [dx, dy] = [0, -1e-4];
  for (const other of others) {
    const [ox, oy] = [die.centre[0] - other.centre[0], die.centre[1] - other.centre[1]];
    const far = Math.hypot(ox, oy) || 1;
    dx += ox / far ** 3;
    dy += oy / far ** 3;
  }
  const length = Math.hypot(dx, dy) || 1;
  return [dx / length, dy / length];
}

// -- the news --------------------------------------------------------------------------------

function drawNews(state, nameOf) {
  const { game, tray, table } = state;
  if (game === null) return drawLobby(state);
  if (game.over) return drawOver(state, nameOf);
  const said = state.announcement;
  const text = said?.text ?? "";
  if (game.action) {
    const asked = askedText(game, nameOf);
    redraw($("news"), ["action", said, asked, game.roll, game.dice, game.sums, game.action], () =>
      [
        rollNews(game),
        NEWS.has(said?.kind) ? el("p", { class: "banner", "data-kind": said.kind, text: said.headline }) : null,
        el("p", { class: `said${lengthOf(text)}`, text }),
        el("p", { class: "asked", text: asked }),
      ].filter(Boolean),
    );
    return;
  }
  const isTrouble = TROUBLE.has(tray.status) && !table.typed_rolls;
  const headline = isTrouble ? tray.text : (said?.headline ?? t("table.throws", { name: nameOf(game.active) }));
  const isTurn = said === null || said?.kind === "turn";
  const asked = tray.confirmable
    ? tray.text
    : isTrouble || !isTurn
      ? t("table.throws", { name: nameOf(game.active) })
      : "";
  redraw($("news"), ["roll", headline, isTrouble, said, asked], () =>
    [
      el("p", {
        class: "headline",
        "data-kind": isTrouble ? "trouble" : (said?.kind ?? "turn"),
        text: headline,
      }),
      isTrouble || (isTurn && tray.confirmable) ? null : el("p", { class: `said${lengthOf(text)}`, text }),
      el("p", { class: `asked${tray.confirmable ? " is-due" : ""}`, text: asked }),
    ].filter(Boolean),
  );
}

/** Draw the white sum, the dice, and the sums of each coloured die. */
function rollNews(game) {
  const sums = game.rows
    .filter((row) => row.lock && game.sums.colour[row.lock])
    .map((row) => {
      const legal = legalSums(game, row);
      const shown = legal.length ? legal : game.sums.colour[row.lock];
      return el(
        "li",
        { class: `is-${row.lock}${legal.length ? "" : " is-idle"}` },
        sign(row),
        el("span", { class: "sr", text: `${row.name} ` }),
        el("span", { text: shown.join(" · ") }),
      );
    });
  return el(
    "div",
    { class: "news-top", "data-action": game.action },
    el("p", { class: "headline", "data-kind": "roll", text: String(game.sums.white) }),
    el(
      "div",
      { class: "made-of" },
      el("div", { class: "dice" }, ...rollOf(game)),
      el("ul", { class: "sums", "aria-label": t("table.sums") }, ...sums),
    ),
  );
}

/** Return the sums of a row's die that the active player may cross in action 2. */
function legalSums(game, row) {
  const sums = game.sums.colour[row.lock];
  if (game.action !== 2) return sums;
  const { legal, made_by } = game.players.find((player) => player.seat === game.active);
  const dice = legal
    .map((token) => made_by[token] ?? [])
    .filter((pair) => pair.some((die) => die.colour === row.lock));
  const made = new Set(dice.map((pair) => pair.reduce((sum, die) => sum + die.value, 0)));
  return sums.filter((sum) => made.has(sum));
}

/** Long texts get smaller letters. */
const lengthOf = (text) => (text.length > 320 ? " is-very-long" : text.length > 180 ? " is-long" : "");

function askedText(game, nameOf) {
  const waiting = game.waiting_for.map(nameOf);
  return waiting.length ? t("table.waiting_for", { names: listOf(waiting) }) : t("table.all_answered");
}

const shortOf = (url) => url.replace(/^https?:\/\/|\/$/g, ""); // as typed into a browser

const addressOf = (table) => table.join_url || `${location.origin}/`;

/** Draw the QR codes: the table's Wi-Fi, if it has one, and the page. */
function codes(door, url) {
  const { epoch } = latest(); // after a restart the address has another code
  const table = el("img", {
    src: `/join.svg?for=${encodeURIComponent(url)}&run=${epoch}`,
    alt: t("table.scan", { url }),
  });
  if (!door?.wifi) return [el("figure", {}, table)];
  const wifi = el("img", {
    src: `/wifi.svg?for=${encodeURIComponent(door.wifi)}`,
    alt: t("table.wifi_alt", { name: door.wifi }),
  });
  return [
    el("figure", {}, el("figcaption", { text: t("table.wifi", { name: door.wifi }) }), wifi),
    el("figure", {}, el("figcaption", { text: t("table.wifi_then") }), table),
  ];
}

function drawLobby({ seats, table, me: { door } }) {
  const url = addressOf(table);
  redraw($("news"), ["lobby", url, seats.length, door], () => [
    el(
      "div",
      { class: `qr${door?.wifi ? " has-wifi" : ""}` },
      el("div", { class: "codes" }, ...codes(door, url)),
      el(
        "div",
        {},
        el("h2", { text: seats.length < SEATS ? t("table.join") : t("table.seats") }),
        el("p", { class: "address", text: shortOf(url) }),
        door ? el("p", { class: "table-code" }, `${t("table.code")} `, el("b", { text: door.code })) : null,
        door ? el("p", { class: "quiet", text: t("table.pin", { pin: door.pin }) }) : null,
      ),
    ),
  ]);
}

function drawOver({ game, seats, table, me: { door } }, nameOf) {
  const isFree = door !== null && seats.length < SEATS;
  redraw($("news"), ["over", game.number, game.ranking, game.end_text, isFree && door], () =>
    [
      el("p", {
        class: `headline${game.winner_text.length > 40 ? " is-long" : ""}`,
        "data-kind": "over",
        text: game.winner_text,
      }),
      el("p", { class: "said", text: game.end_text }),
      el("ol", { class: "podium" }, ...podium(game, nameOf)),
      isFree
        ? el(
            "div",
            { class: "next" },
            el("div", { class: "codes" }, ...codes(door, addressOf(table))),
            el("p", {}, t("table.next_game"), el("b", { text: door.code })),
          )
        : null,
    ].filter(Boolean),
  );
}

// -- rows and people -------------------------------------------------------------------------

function drawRows(game, nameOf) {
  const closedAs = (row) => game.closed.find((each) => each.row === row.key);
  // at the end only closed rows
  const rows = (game?.rows ?? []).filter((row) => row.lock && (!game.over || closedAs(row)));
  show($("rows"), rows.length > 0);
  redraw($("rows"), [rows.map((row) => row.key), game?.closed], () =>
    rows.map((row) => {
      const closed = closedAs(row);
      const words = t(closed ? "table.row_closed" : "table.row_open", { row: capital(row.name) });
      const by = closed ? t("table.closed_by", { names: listOf(closed.by.map(nameOf)) }) : t("table.die_in");
      const text = el("span", {}, el("span", { text: words }), el("span", { class: "by", text: by }));
      return el(
        "li",
        { class: `is-${row.lock}${closed ? " is-closed" : ""}` },
        sign(row),
        text,
        closed ? lockIcon() : null,
      );
    }),
  );
}

function drawPeople({ game, seats, table, me: { door } }) {
  const people = game ? game.players : seats.map((seat) => ({ ...seat, answer: null }));
  const isFree = game !== null && !game.over && door !== null && seats.length < SEATS;
  redraw(
    $("people"),
    [people, game?.waiting_for, game?.active, game?.phase, seats, isFree && [door, addressOf(table)]],
    () => [
      ...people.map((player) => {
        const isWaited = game?.waiting_for.includes(player.seat);
        const isActive = game !== null && game.active === player.seat;
        const word = !game
          ? ""
          : game.over
            ? ""
            : player.gone
              ? t("table.gone")
              : isWaited
                ? t("table.to_answer")
                : player.answer
                  ? t("table.answered")
                  : isActive && game.phase === "roll"
                    ? t("players.throws")
                    : "";
        const mark = isWaited ? "○ " : player.answer ? "✓ " : "";
        return el(
          "li",
          { class: player.gone ? "is-gone" : isActive && !game.over ? "is-active" : "" },
          el("bdi", {
            class:
              player.name.length > VERY_LONG_NAME
                ? "is-very-long"
                : player.name.length > LONG_NAME
                  ? "is-long"
                  : "",
            text: player.name,
          }),
          game ? el("span", { class: "points" }, el("span", { text: numeral(player.points.total) })) : null,
          el("span", { class: "state" }, el("span", { "aria-hidden": "true", text: mark }), word),
          game ? misses(player) : null,
        );
      }),
      ...(isFree ? [freeSeat(door, addressOf(table))] : []),
    ],
  );
}

/** Draw a free seat with the code for latecomers. */
const freeSeat = (door, url) =>
  el(
    "li",
    { class: "is-free" },
    el("div", { class: "codes" }, ...codes(door, url)),
    el("span", {}, t("table.free_seat"), el("b", { text: door.code })),
  );

function misses(player) {
  const label = t("game.misses", {
    count: player.misses,
    most: player.misses_most,
    minus: player.points.minus,
  });
  const boxes = Array.from({ length: player.misses_most }, (_, i) =>
    el("span", { class: i < player.misses ? "miss is-taken" : "miss" }),
  );
  return el("span", { class: "misses", role: "img", "aria-label": label }, ...boxes);
}

async function press(path) {
  const answer = await post(path);
  if (answer && !answer.ok) setText($("tray-text"), answer.data.message);
}

onPress($("throw"), () => press("/api/throw"));
onPress($("confirm"), () => press("/api/press"));
addEventListener("resize", fit);
onConnection((up) => show($("offline"), !up));
onState(draw);
start("table");
