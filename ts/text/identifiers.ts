// Which words are names that a machine or a person made up to be unique: error codes, tickets, paths, versions,
// hashes. One rule, in four strengths.

import { FUNCTION_WORDS } from "./stop-words.js";

/** A digit or a connector: what most identifiers have and ordinary words do not. */
const MARK = /[\p{N}_.\-/:@#]/u;

/** May name something, numbers included: a port, a year, a version. Rare ones count as keyword evidence. */
export function isIdentifierLike(term: string): boolean {
  return term.length > 1 && MARK.test(term);
}

/** Names something: a year, a count or a version's tail is shared by accident; a ticket or a path is not. */
export function isTellingIdentifier(term: string): boolean {
  return term.length >= 5 && isIdentifierLike(term) && /\p{L}/u.test(term);
}

/** May stand inside a longer identifier; short plain words do not, since "cat" must not find "education". */
export function mayBePartOfIdentifier(stretch: string): boolean {
  return MARK.test(stretch) || /^\p{L}{6,}$/u.test(stretch);
}

/** `20th`, `5pm`, `10km`, `300dpi`: a number with its unit. */
const QUANTITY = /^\p{N}+\p{L}{1,3}$/u;
const SNAKE = /[\p{L}\p{N}]_+[\p{L}\p{N}]/u;
/** `readConfig` and `MemoryIndexBuilder`; two humps alone are brands and surnames (`YouTube`, `McDonald`). */
const CAMEL = /^\p{Ll}{2,}[\p{Ll}\p{N}]*\p{Lu}|^(?:\p{Lu}+\p{Ll}+){2}\p{Lu}/u;
/** `web-01`, `svc-auth-12`, but not `5-year-old`. */
const NUMBERED = /^\p{L}+(?:-\p{L}+)*-\p{N}+$/u;
/** `10.0.0.1`, `1.2.3`; a date has a part of four digits. */
const VERSION = /^\p{N}{1,3}(?:\.\p{N}{1,3}){2,}$/u;
/** `example.com`, `README.md`, but not `e.g`, nor two sentences without a blank between them. */
const DOTTED = /^[\p{L}-]{2,}(?:\.[\p{L}-]{2,})*\.\p{Ll}{2,}$/u;

/**
 * Whether a word can only be a name that somebody made up: letters with digits inside one part, snake, kebab, dotted
 * and camel case, paths, addresses, versions and hashes. Words that people write in sentences are none, however they
 * look: `part-time`, `and/or`, `24/7`, `iPhone`, `3rd`, `5:30pm`.
 */
export function isIdentifier(word: string): boolean {
  const segments = word.split(/[/\\:@#]+/).filter((segment) => segment !== "");
  if (segments.length > 1) {
    const isAddress = segments.length > 2 || /[@\\]|::/.test(word);
    return segments.some(isIdentifier) || (isAddress && segments.every((part) => /^\p{L}/u.test(part)));
  }
  if ([SNAKE, CAMEL, NUMBERED, VERSION, DOTTED].some((shape) => shape.test(word))) return true;
  const parts = word.split(/[.\-+&]+/);
  if (parts.some((part) => /\p{L}/u.test(part) && /\p{N}/u.test(part) && !QUANTITY.test(part))) return true;
  // `user-profile-service`, but not `state-of-the-art`.
  return (
    parts.length > 2 &&
    parts.every((part) => /^\p{L}{2,}$/u.test(part) && !FUNCTION_WORDS.has(part.toLowerCase()))
  );
}
