// Which words are names that a machine or a person made up to be unique: error codes, tickets, paths, versions,
// hashes. One rule, in three strengths.

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
