// The page's sentences: they come with the page, from the catalogue the server and the voice use.
const table = JSON.parse(document.getElementById("phrases").textContent);
export const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);

/** One sentence with its placeholders filled; a `count` may choose the key's singular. */
export function t(key, data = {}) {
  const isOne = typeof data.count === "number" && plural.select(data.count) === "one";
  const text = (isOne ? table[`${key}.singular`] : undefined) ?? table[key];
  if (text === undefined) throw new Error(`no phrase ${key}`);
  return text.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name, form = "") => worded(data[name], form));
}

/** A word that languages bend: `{row:the}` takes its form `row.red.the`. */
export const term = (key) => ({ key });

/** A number as it is printed: below zero with a minus sign, which is no hyphen. */
export const numeral = (number) => String(number).replace("-", "−");

function worded(value, form) {
  if (value?.key === undefined) return typeof value === "number" ? numeral(value) : String(value ?? "");
  const plain = form.charAt(0).toLowerCase() + form.slice(1);
  const text = table[plain && plain !== "name" ? `${value.key}.${plain}` : value.key];
  if (text === undefined) throw new Error(`no form ${plain} of ${value.key}`);
  return plain === form ? text : capital(text);
}

/** Words joined as a person would: "Ada, Ben and Cleo". */
export function all(words) {
  if (words.length < 2) return words.join("");
  return t("list.and", { first: words.slice(0, -1).join(", "), last: words.at(-1) });
}

/** Two dice by name: "white 3 + blue 6". */
export const pairOf = (dice) => dice.map(({ colour, value }) => t("die", { colour: t(`colour.${colour}`), value })).join(" + ");

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
