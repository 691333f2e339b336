// The forms in which texts are compared: for search, and for telling whether two texts are the same.

/** NFKC: half-width kana, full-width letters and compatibility forms become the ordinary ones. */
export function normaliseText(text: string): string {
  return text.normalize("NFKC");
}

/** Lower case (full Unicode mapping) and accents off Latin letters, on NFKC text. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  if (/^[\x20-\x7e]*$/.test(lower)) return lower;
  return lower
    .replace(/[\u00c0-\u024f\u1e00-\u1eff]/g, (c) => c.normalize("NFD").replace(/\p{Mn}+/gu, ""))
    .replace(/([a-z])\p{Mn}+/gu, "$1");
}

/** The text as the substring index holds it. */
export function foldText(text: string): string {
  return foldWord(normaliseText(text));
}

/** Trimmed and lower-cased: the form in which texts are compared for exclusion. */
export function foldCase(text: string): string {
  return text.trim().toLowerCase();
}
