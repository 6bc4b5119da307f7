// A player's sheet, drawn from the game's rows: upright on a tall screen, flat on a wide one.
import { lockIcon, sign } from "./dice.js";
import { setAttribute, el, redraw, refill, setText, show } from "./dom.js";
import { listOf, capital, pairOf, t } from "./words.js";

const WITH_DICE = new Set(["legal", "other", "tapped", "chosen"]);

export class Sheet {
  /** @param root an empty element; @param onTap is called with the token of a tapped box, and the event */
  constructor(root, onTap) {
    this.root = root;
    this.onTap = onTap;
    this.drawn = "";
    this.led = undefined; // the box that was made the keyboard's entry
    this.boxes = new Map();
    this.rows = [];
    root.addEventListener("click", (event) => {
      const box = event.target.closest("button[data-token]");
      if (box) this.onTap(box.dataset.token, event);
    });
    root.addEventListener("keydown", (event) => this.#move(event));
    root.addEventListener("focusin", (event) => this.#holdFocus(event.target));
  }

  #build(rows) {
    this.boxes.clear();
    this.root.style.setProperty("--rows", rows.length);
    this.root.classList.toggle("is-wide", rows.length > 4);
    this.root.style.setProperty("--boxes", Math.max(...rows.map((row) => row.boxes.length)));
    this.rows = rows.map((row) => {
      const name = el("span", { class: "by" });
      const others = el("span", { class: "others" });
      const closers = el("span", { class: "closers", hidden: true }, name, others);
      const points = el("span", { class: "points" });
      const lock = el("span", { class: "lock" }, row.lock ? lockIcon() : "");
      const boxes = row.boxes.map((box) => this.#box(row, box));
      const node = el(
        "div",
        {
          class: `row is-${row.lock ?? "bonus"}${row.bonus ? " is-bonus" : ""}`,
          role: "group",
          "data-row": row.key,
        },
        el("div", { class: "head", "aria-hidden": "true" }, sign(row, rows), closers),
        ...boxes,
        el("div", { class: "foot", "aria-hidden": "true" }, lock, points),
      );
      row.beside.forEach((key, i) => {
        const colour = rows.find((each) => each.key === key)?.lock;
        node.style.setProperty(i ? "--to" : "--from", `var(--${colour})`);
      });
      return { row, node, closers, name, others, points, lock, boxes };
    });
    refill(this.root, this.rows.map((each) => each.node));
    this.rows[0].boxes[0].tabIndex = 0;
    this.led = undefined;
  }

  #box(row, box) {
    const node = el("button", { type: "button", class: "box", "data-token": box.token, tabindex: "-1" });
    const made = el("span", { class: "made", "aria-hidden": "true" });
    node.append(el("span", { class: "number", text: box.number }), made);
    this.boxes.set(box.token, { node, made, name: `${row.name} ${box.number}` });
    return node;
  }

  /**
   * Show a player's sheet.
   * @param answer their answer in the open action, as known to this page
   * @param nameOf returns a seat's name
   * @param hasHints highlight the boxes that may be crossed
   * @param hasPoints include points in the rows' labels
   */
  update(game, player, answer, nameOf, hasHints = true, hasPoints = true) {
    const plan = JSON.stringify(game.rows);
    if (plan !== this.drawn) {
      this.#build(game.rows);
      this.drawn = plan;
    }
    const closed = new Map(game.closed.map((each) => [each.row, each.by]));
    const closing = new Map(game.closing.map((each) => [each.row, each.seat]));
    const legal = new Set(player.legal);
    const lost = new Set(player.lost);
    for (const { row, node, closers, name, others, points, lock } of this.rows) {
      const crossed = new Set(player.sheet[row.key]);
      const by = closed.get(row.key);
      for (const box of row.boxes) {
        let is = "open";
        if (crossed.has(box.token)) is = "crossed";
        else if (answer?.box === box.token) is = answer.done ? "chosen" : "tapped";
        else if (lost.has(box.token)) is = by ? "closed" : "skipped";
        else if (hasHints && legal.has(box.token) && answer?.box) is = "other";
        else if (hasHints && legal.has(box.token)) is = "legal";
        this.#mark(box.token, is, WITH_DICE.has(is) ? player.made_by[box.token] : null);
      }
      const isLocked = player.locks.includes(row.key);
      setAttribute(node, "data-closed", by ? "yes" : null);
      setAttribute(lock, "data-locked", isLocked ? "mine" : by ? "others" : null);
      const names = by ? by.map(nameOf) : [];
      const isClosing = !by && closing.has(row.key);
      show(closers, isClosing || names.length > 0);
      setText(
        name,
        isClosing ? t("sheet.closing", { name: nameOf(closing.get(row.key)) }) : this.#short(names),
      );
      // never truncated with the name
      setText(others, names.length > 1 && !this.#isWide ? `+${names.length - 1}` : "");
      const scored = player.points.rows[row.lock];
      setText(points, scored === undefined ? "" : String(scored));
      setAttribute(
        node,
        "aria-label",
        this.#rowLabel(row, by, isLocked, hasPoints ? scored : undefined, nameOf),
      );
    }
    this.#focusOn(hasHints ? player.legal[0] : undefined);
  }

  get #isWide() {
    return this.rows.length > 4;
  }

  /** Shorten the closers' names to the room in the row's head; the label has all of them. */
  #short(names) {
    return this.#isWide ? names.map((each) => [...each][0]).join(" ") : (names[0] ?? "");
  }

  #rowLabel(row, by, isLocked, scored, nameOf) {
    const parts = [
      t("sheet.row", { row: capital(row.name), from: row.boxes[0].number, to: row.boxes[row.boxes.length - 1].number }),
    ];
    if (by) parts.push(t("sheet.closed_by", { names: listOf(by.map(nameOf)) }));
    if (isLocked) parts.push(t("sheet.lock_crossed"));
    if (scored !== undefined) parts.push(t("sheet.points", { count: scored }));
    return parts.join(", ");
  }

  #mark(token, is, dice) {
    const { node, made, name } = this.boxes.get(token);
    // a cross covers the dice; the status line names them
    const chips = is === "legal" || is === "other" ? (dice ?? []) : [];
    redraw(made, chips, () => chips.map((die) => el("i", { class: `chip is-${die.colour}`, text: die.value })));
    const words = [name, t(`box.${is}`), dice ? pairOf(dice) : ""].filter(Boolean).join(", ");
    setAttribute(node, "aria-label", words);
    if (node.dataset.is === is) return;
    node.dataset.is = is;
    setAttribute(node, "aria-pressed", is === "crossed" || is === "tapped" || is === "chosen" ? "true" : null);
  }

  // -- keyboard: one tab stop for the sheet; arrows move as the boxes lie on the screen

  #move(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const at = this.#place(event.target);
    if (!at) return;
    let { r, b } = at;
    const count = this.rows[r].boxes.length;
    if (event.key === "Home") b = 0;
    else if (event.key === "End") b = count - 1;
    else if (steps[event.key]) {
      let [dx, dy] = steps[event.key];
      if (this.#isUpright()) [dx, dy] = [dy, dx];
      b = Math.min(Math.max(b + dx, 0), count - 1);
      r = Math.min(Math.max(r + dy, 0), this.rows.length - 1);
    } else return;
    event.preventDefault();
    this.rows[r].boxes[Math.min(b, this.rows[r].boxes.length - 1)].focus();
  }

  #place(node) {
    for (const [r, { boxes }] of this.rows.entries()) {
      const b = boxes.indexOf(node);
      if (b >= 0) return { r, b };
    }
    return null;
  }

  #isUpright() {
    const [first, second] = this.rows[0].boxes;
    return second.offsetTop > first.offsetTop;
  }

  /** Focus the keyboard's entry. */
  focus() {
    this.root.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  }

  /** Make a legal box the keyboard's entry. */
  #focusOn(token) {
    if (token === this.led) return;
    this.led = token;
    if (token && !this.root.contains(document.activeElement)) this.#holdFocus(this.boxes.get(token).node);
  }

  #holdFocus(node) {
    if (!this.#place(node)) return;
    for (const { node: box } of this.boxes.values()) box.tabIndex = box === node ? 0 : -1;
  }
}
