// Colour, width and wrapping on a terminal. Knows nothing about memories.
import { charWidth, displayWidth } from "../intake/pieces.js";

/** Where text goes: what a stream tells about itself. */
export interface Screen {
  colour: boolean;
  columns: number;
  /** Whether lines may be redrawn. */
  live: boolean;
}

/** What `stream` can show. FORCE_COLOR wins over NO_COLOR, both over the terminal. */
export function screenOf(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Screen {
  const live = stream.isTTY === true && env["TERM"] !== "dumb";
  const forced = env["FORCE_COLOR"];
  const refused = env["NO_COLOR"];
  let colour = live;
  if (refused !== undefined && refused !== "") colour = false;
  if (forced !== undefined) colour = forced !== "0" && forced !== "false";
  return { colour, columns: Math.min(Math.max(stream.columns ?? 100, 40), 120), live };
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Wraps text in an ANSI style, or leaves it alone. `util.styleText` would need Node 20.12. */
export function paint(screen: Screen, style: keyof typeof CODES, text: string): string {
  const [on, off] = CODES[style];
  return screen.colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** One line of printable text: stored text must not be able to move the cursor or change colours. */
export function printable(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "");
}

const NO_LINE_START = /^[、。，．）」』】〉》！？：；ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.)\]!?:;]/u;

/**
 * Lines of at most `columns`, wide characters counted twice, broken at spaces or between CJK characters.
 * At most `maxLines`; the last one then ends with "…".
 */
export function wrap(text: string, columns: number, maxLines = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const unit of units(text)) {
    const unitWidth = displayWidth(unit);
    // A closing mark may hang over the edge by one character rather than begin a line.
    if (width > 0 && width + displayWidth(unit.trimEnd()) > columns && !NO_LINE_START.test(unit)) {
      lines.push(line.trimEnd());
      line = "";
      width = 0;
      if (lines.length === maxLines) break;
    }
    line += unit;
    width += unitWidth;
  }
  if (lines.length < maxLines) {
    if (line.trim() !== "") lines.push(line.trimEnd());
    return lines;
  }
  lines.push(`${clip(lines.pop() ?? "", columns - 2)} …`);
  return lines;
}

/** Words with the space after them, single wide characters, and slices of words too long for any line. */
function units(text: string): string[] {
  const found: string[] = [];
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    let run = "";
    let length = 0;
    for (const char of word) {
      if (charWidth(char.codePointAt(0) ?? 0) === 2 || length >= 36) {
        if (run !== "") found.push(run);
        run = "";
        length = 0;
      }
      if (charWidth(char.codePointAt(0) ?? 0) === 2) found.push(char);
      else {
        run += char;
        length++;
      }
    }
    if (run.trim() === "" && found.length > 0) found.push(`${found.pop()}${run}`);
    else if (run !== "") found.push(run);
  }
  return found;
}

function clip(text: string, columns: number): string {
  let width = 0;
  let kept = "";
  for (const char of text) {
    width += charWidth(char.codePointAt(0) ?? 0);
    if (width > columns) {
      // Half a word reads worse than none.
      return (/^[\w'’-]/.test(char) ? kept.replace(/(\s)[\w'’-]{1,24}$/, "$1") : kept).trimEnd();
    }
    kept += char;
  }
  return kept.trimEnd();
}
