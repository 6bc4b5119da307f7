// How to come in: the address, the QR codes of page and Wi-Fi, the code and the PIN.
import { $, el, redraw, show } from "../lib/dom.js";
import { latest } from "../lib/live.js";
import { t } from "../lib/words.js";

export const shortOf = (url) => url.replace(/^https?:\/\/|\/$/g, ""); // as typed into a browser

export const addressOf = (table) => table.join_url || `${location.origin}/`;

/** Whether only the table's own machine can open an address, as in no network. */
export const isNear = (url) => /^https?:\/\/(127\.|localhost\b|\[::1\])/.test(url);

/** What a new table view asks for: its code on the host's page, and first of all a host. */
export const pairText = ({ me, table }) =>
  t(table.hosted ? "table.pair" : "table.pair_first", { code: me.pairing, url: `${shortOf(addressOf(table))}/host` });

/** Show address, code and PIN, or the code of a new table view, in small letters while the large code is hidden. */
export function drawDoor({ me, table, game }) {
  const parts = me.door
    ? [
        shortOf(addressOf(table)),
        `${t("table.code")} ${me.door.code}`,
        me.door.pin ? t("table.pin", { pin: me.door.pin }) : "",
      ]
    : [me.pairing ? pairText({ me, table }) : ""];
  const shown = game === null ? [] : parts.filter(Boolean);
  show($("door"), shown.length > 0);
  redraw($("door"), shown, () => shown.flatMap((text) => [el("span", { text }), " "]));
}

/** Draw the QR code and the address of a game's report. */
export function report(number, url) {
  const page = `${url.replace(/\/$/, "")}/games/${number}`;
  const code = el("img", { src: `/report.svg?number=${number}&for=${encodeURIComponent(url)}`, alt: "" });
  return el(
    "figure",
    { class: "report-link" },
    code,
    el("figcaption", {}, `${t("table.report")} `, el("a", { href: `/games/${number}`, text: shortOf(page) })),
  );
}

/** Draw the QR codes: the table's Wi-Fi, if it has one, and the page. */
export function codes(door, url) {
  const { epoch } = latest(); // after a restart the code is another one, and without a door there is none
  const table = el("img", {
    src: `/join.svg?for=${encodeURIComponent(url)}&run=${epoch}&in=${door ? 1 : 0}`,
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
