// A notice of what others changed on the player's sheet; it stays until the player has seen it.
import { $, disableBriefly, redraw, el, setText, show } from "../lib/dom.js";
import { recall, remember, SEEN_NOTICE } from "../lib/storage.js";
import { listOf, t } from "../lib/words.js";
import { boxName } from "./status.js";

let vibratedFor = 0; // revision of the newest notice that the device vibrated for
let checkedFor = ""; // server's run in which the stored one was checked

/** Show the unseen notices of this device's seats. */
export function drawNotice({ game, me, revision, epoch }) {
  const seen = seenUpTo(revision, epoch);
  const isShared = me.seats.length > 1;
  const unseen = (game?.notices ?? []).filter((each) => me.seats.includes(each.seat) && each.revision > seen);
  const was = $("notice").hasAttribute("hidden");
  show($("notice"), unseen.length > 0);
  if (!unseen.length) return;
  const lines = joined(unseen).map((each) => {
    const player = game.players.find(({ seat }) => seat === each.seat);
    const text = textOf(game, { ...each, lost: stillLost(player, each.lost) });
    return isShared ? t("named", { name: player.name, text }) : text;
  });
  const newest = Math.max(...unseen.map((each) => each.revision));
  $("notice").dataset.revision = String(newest);
  redraw($("notice-lines"), lines, () => lines.map((text) => el("p", { text })));
  setText($("notice-ok"), t("notice.ok"));
  if (was) disableBriefly($("notice-ok"));
  if (newest <= vibratedFor) return;
  vibratedFor = newest;
  vibrate([120, 60, 120]);
}

/** Vibrate where the device can and the player has touched the page. */
export function vibrate(pattern) {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(pattern);
}

/** Return the revision up to which notices were seen; a device that is new here starts now.
 * The host's page may know a newer one than this page; in a new run it is that of an older log. */
function seenUpTo(revision, epoch) {
  const stored = Number(recall(SEEN_NOTICE) || NaN);
  const isChecked = epoch === checkedFor;
  checkedFor = epoch;
  if (stored <= revision || (isChecked && stored)) return stored;
  remember(SEEN_NOTICE, String(revision)); // none stored, or of an older log
  return revision;
}

/** Join the notices of one seat that give the same reason to one, in the place of the newest. */
function joined(notices) {
  const lines = new Map();
  for (const each of notices) {
    const key = `${each.seat} ${each.kind} ${each.crossed}`;
    const { lost, misses } = lines.get(key) ?? { lost: [], misses: 0 };
    lines.delete(key);
    lines.set(key, { ...each, lost: [...new Set([...lost, ...each.lost])], misses: misses + each.misses });
  }
  return [...lines.values()];
}

/** Leave out boxes that the player has crossed anew. */
function stillLost({ sheet, answer }, lost) {
  const crossed = new Set([...Object.values(sheet).flat(), answer?.box]);
  return lost.filter((token) => !crossed.has(token));
}

/** Word a notice: the reason, then what became of the sheet. */
export function textOf(game, { kind, lost, crossed, misses }) {
  const box = crossed === null ? "" : boxName(game, crossed);
  const parts = [
    t(kind === "answered" && crossed === null ? "notice.answered.pass" : `notice.${kind}`, { box }),
  ];
  if (lost.length) {
    const boxes = listOf(lost.map((token) => boxName(game, token)));
    parts.push(t("notice.lost", { boxes, count: lost.length }));
  }
  if (misses > 0) parts.push(t("notice.miss"));
  if (misses < 0) parts.push(t("notice.miss_back"));
  return parts.join(" ");
}

$("notice-ok").addEventListener("click", () => {
  remember(SEEN_NOTICE, $("notice").dataset.revision);
  show($("notice"), false);
});
