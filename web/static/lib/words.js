// The page's texts, delivered with the page from the server's message catalogue.
const table = JSON.parse(document.getElementById("phrases").textContent);
export const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);

/** Return a text with its placeholders filled; `count` selects the singular. */
export function t(key, data = {}) {
  const isOne = typeof data.count === "number" && plural.select(data.count) === "one";
  const text = (isOne ? table[`${key}.singular`] : undefined) ?? table[key];
  if (text === undefined) throw new Error(`no phrase ${key}`);
  return text.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name, form = "") => fill(data[name], form));
}

/** Reference a word with inflected forms: `{row:the}` uses the text `row.red.the`. */
export const term = (key) => ({ key });

const numbers = new Intl.NumberFormat(language, { useGrouping: false }); // the announcements do not group either

/** Format a number as the language writes it, with a proper minus sign. */
export const numeral = (number) => numbers.format(number || 0).replace("-", "−"); // -0 is 0

/** Write a rating with two standard deviations to each side; a dash without one. */
export const ratingText = (rating) =>
  rating === null ? "–" : `${Math.round(rating.mean)}\u00a0±\u00a0${Math.round(2 * rating.deviation)}`;

const TURNED = /^[^\u2068]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Isolate a word from right to left, so that it turns no numbers beside it. */
const isolated = (word) => (TURNED.test(word) ? `\u2068${word}\u2069` : word);

function fill(value, form) {
  if (value?.key === undefined) return typeof value === "number" ? numeral(value) : isolated(String(value ?? ""));
  const plain = form.charAt(0).toLowerCase() + form.slice(1);
  const text = table[plain && plain !== "name" ? `${value.key}.${plain}` : value.key];
  if (text === undefined) throw new Error(`no form ${plain} of ${value.key}`);
  return plain === form ? text : capital(text);
}

/** Join words to a list: "Ada, Ben and Cleo". */
export const listOf = (words) => joined(words, "list.and");

/** Join words to a choice: "red 7, yellow 7 or green 7". */
export const choiceOf = (words) => joined(words, "list.or");

function joined(words, key) {
  if (words.length < 2) return words.join("");
  return t(key, { first: words.slice(0, -1).join(", "), last: words[words.length - 1] });
}

/** Name a colour, "?" for one that was not read. */
export const colourName = (colour) => t(colour ? `colour.${colour}` : "unreadable");

/** Name a die: "white 3"; with "?" for what was not read. */
export const dieName = ({ colour, value }) =>
  t("die", { colour: colourName(colour), value: value ?? t("unreadable") });

/** Name dice: "white 3 + blue 6". */
export const pairOf = (dice) => dice.map(dieName).join(" + ");

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
