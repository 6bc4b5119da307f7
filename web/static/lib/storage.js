// Values kept on this device, or for the life of the page if the browser refuses storage.
const kept = {};

/** Name of the revision up to which this device's people have seen what others changed. */
export const SEEN_NOTICE = "seen-notice";

export function recall(name) {
  try {
    return kept[name] ?? localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
    delete kept[name];
  } catch {
    kept[name] = value; // private windows may refuse storage, or it is full
  }
}
