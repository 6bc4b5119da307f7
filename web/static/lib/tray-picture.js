// The tray's picture with its dice outlined and labelled, on the table view and the host's page.
import { $, loaded, redraw, setAttribute, setText, show, svg } from "./dom.js";
import { countedDice, placeLabels, READ } from "./overlay.js";
import { colourName, dieName, t } from "./words.js";

const FILM_MS = 120;

let wantedPicture = ""; // address of the picture to show
let shownPicture = ""; // address of the picture shown
let isFilming = false;

/** Draw the picture: live while dice roll, else the one that was read; without one, say why. */
export function drawPicture(state, why = "table.no_picture") {
  const { tray, table, epoch } = state;
  const source = tray.frame > 0 ? `/api/frame.jpg?n=${tray.frame}&run=${epoch}` : "";
  filmWhileMoving(tray);
  if (isFilming) {
    // the live picture is shown
  } else if (source !== wantedPicture) {
    wantedPicture = source;
    if (source) void loadPicture(source, state);
    else show($("picture"), false);
  } else if (source === shownPicture) drawReading(state);
  show($("reading"), Boolean(source));
  setText($("no-picture"), source ? "" : t(table.camera === "none" ? "table.no_camera" : why));
  show($("tag"), table.camera === "simulated");
  setText($("tag"), t("table.simulated"));
}

function filmWhileMoving({ status, frame }) {
  const isMoving = frame > 0 && ["moving", "reading"].includes(status);
  $("reading").classList.toggle("is-old", isMoving);
  if (isMoving === isFilming) return;
  isFilming = isMoving;
  if (isMoving) void film();
}

async function film() {
  while (isFilming) {
    const isSeen = document.visibilityState === "visible"; // a hidden page does not hear when the dice rest
    const next = isSeen && (await loaded(`/api/frame.jpg?at=${Date.now()}`));
    if (next && isFilming) {
      $("picture").src = next.src;
      show($("picture"), true);
      wantedPicture = shownPicture = ""; // show the reading's picture when the dice rest
    }
    await new Promise((resolve) => setTimeout(resolve, FILM_MS));
  }
}

/** Load a picture; change it together with its outlines. */
async function loadPicture(source, state) {
  const next = await loaded(source);
  if (source !== wantedPicture) return;
  if (!next) {
    wantedPicture = ""; // try again with the next snapshot
    return;
  }
  shownPicture = source;
  $("picture").src = next.src;
  show($("picture"), true);
  drawReading(state);
}

function drawReading({ tray, game, me, table }) {
  const [width, height] = [tray.size[0] || 640, tray.size[1] || 480];
  const isOpen = game !== null && !game.over && (game.action > 0 || READ.has(tray.status));
  const isTappable = me.host && table.hosted && isOpen;
  const dice = countedDice(tray, game);
  const names = dice.map(dieName);
  setAttribute($("reading"), "viewBox", `0 0 ${width} ${height}`);
  setAttribute($("reading"), "aria-label", names.join(", ") || t("table.picture"));
  setAttribute($("reading"), "role", isTappable ? "group" : "img");
  redraw($("reading"), [dice, tray.size, isTappable], () => {
    const labels = placeLabels(dice, [width, height], dice.map((die) => colourName(die.colour)));
    return dice.map((die, n) => {
      const drawn = outline(die, labels[n], width / 640);
      if (!isTappable || !die.in_tray) return drawn;
      const at = tray.dice.findIndex((each) => String(each.centre) === String(die.centre));
      const label = t("dice.correct", { die: names[n] });
      const tabindex = $("rolled") ? -1 : null; // the host's page has a button for each die, too
      return svg("a", { href: `/host#die=${at}`, "aria-label": label, tabindex }, drawn); // opens the correction
    });
  });
}

function outline(die, { x, y, size }, unit) {
  const isUnread = die.value === null || die.colour === null;
  const isDoubtful = die.doubtful || !die.in_tray || isUnread;
  const label = svg("text", { x, y: y + size * 0.35, "font-size": size, "text-anchor": "middle" });
  const word = svg("tspan", { class: "word", "font-size": size * 0.72 });
  word.textContent = ` ${colourName(die.colour)}`;
  label.append(String(die.value ?? t("unreadable")), word);
  const points = die.corners.map((corner) => corner.join(",")).join(" ");
  return svg(
    "g",
    { class: isDoubtful ? "is-doubtful" : "" },
    svg("polygon", { points, "stroke-width": 4 * unit }),
    label,
  );
}
