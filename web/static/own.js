// What this device keeps for itself; a browser that keeps nothing forgets it with the page.
const kept = {};

export function remembered(name) {
  try {
    return localStorage.getItem(name) ?? kept[name] ?? "";
  } catch {
    return kept[name] ?? "";
  }
}

export function remember(name, value) {
  kept[name] = value;
  try {
    localStorage.setItem(name, value);
  } catch {
    // private windows may refuse: the page's own memory has to do
  }
}
