// A table of players with a column for each value.
import { el } from "../lib/dom.js";
import { numeral, t } from "../lib/words.js";

/** Draw a table; roles are explicit because small phones lay it out as a grid. */
export function table(titled, heads, rows) {
  const head = el(
    "tr",
    { role: "row" },
    el("th", { scope: "col", role: "columnheader", text: t("games.player") }),
    ...heads.map((parts) => el("th", { scope: "col", role: "columnheader" }, ...parts)),
  );
  const lines = rows.map(({ name, values, isFirst }) =>
    el(
      "tr",
      { role: "row", class: isFirst ? "is-first" : "" },
      el("th", { scope: "row", role: "rowheader" }, el("bdi", { text: name })),
      ...values.map((value) => el("td", { role: "cell", text: typeof value === "number" ? numeral(value) : value })),
    ),
  );
  const groups = [el("thead", { role: "rowgroup" }, head), el("tbody", { role: "rowgroup" }, ...lines)];
  const made = el("table", { class: "standings", role: "table", "aria-labelledby": titled }, ...groups);
  made.style.setProperty("--columns", heads.length > 6 ? Math.ceil(heads.length / 2) : heads.length); // on a phone
  return made;
}
