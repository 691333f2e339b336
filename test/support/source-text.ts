// Source text as the tests that read it need it: without comments, with texts masked, without what is switched off.

const LITERAL = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** Blanks out comments, and keeps texts: a `//` inside a text is no comment. Positions stay. */
export function withoutComments(text: string): string {
  return text.replace(LITERAL, (whole, literal: string | undefined) => literal ?? blank(whole));
}

/** Blanks out calls that never run their tests: `skip`, `todo`, `skipIf(true)`, `xit` and their kind. */
export function withoutSkipped(code: string): string {
  const OFF =
    /\b(?:(?:describe|suite|it|test|verifies)\.(?:(?:skip|todo)\b|(?:skipIf\(\s*true|runIf\(\s*false)\s*\))|x(?:it|describe|test)\b)[\w.]*\s*(?=\()/g;
  // Brackets inside texts must not count.
  const masked = code.replace(LITERAL, (whole) => blank(whole));
  let kept = code;
  for (const { index, 0: head } of masked.matchAll(OFF)) {
    let end = index + head.length;
    while (masked[end] === "(") end = closing(masked, end) + 1;
    kept = kept.slice(0, index) + blank(kept.slice(index, end)) + kept.slice(end);
  }
  return kept;
}

/** The place of the bracket that closes the one at `start`, or the end. */
function closing(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (code[at] === "(") depth++;
    if (code[at] === ")" && --depth === 0) return at;
  }
  return code.length;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
