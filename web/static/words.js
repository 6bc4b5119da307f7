// The page's sentences: they come with the page, from the catalogue the server and the voice use.
const table = JSON.parse(document.getElementById("phrases").textContent);

/** One sentence with its placeholders filled. */
export function t(key, data = {}) {
  const text = table[key];
  if (text === undefined) throw new Error(`no phrase ${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => String(data[name] ?? ""));
}

/** Words joined as a person would: "Ada, Ben and Cleo". */
export function all(words) {
  if (words.length < 2) return words.join("");
  return t("list.and", { first: words.slice(0, -1).join(", "), last: words.at(-1) });
}

/** Two dice by name: "white 3 + blue 6". */
export const pairOf = (dice) => dice.map(({ colour, value }) => t("die", { colour: t(`colour.${colour}`), value })).join(" + ");

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
