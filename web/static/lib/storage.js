// Values kept on this device, or for the life of the page if the browser refuses storage.
const kept = {};

/** Name of the revision up to which this device's people have seen what others changed. */
export const SEEN_NOTICE = "seen-notice";

export function recall(name) {
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
    // private windows may refuse storage
  }
}
