// The few front matter fields that matter for memories. Not a YAML parser: `key: value`, `[a, b]` and dash
// lists on the top level; everything else is ignored.

/** Fields of a front matter block, keys in lower case. */
export type FrontMatter = Record<string, string | string[]>;

/** Splits a Markdown text into its front matter (empty when there is none) and its body. */
export function readFrontMatter(text: string): { fields: FrontMatter; body: string } {
  const match = /^---[ \t]*\n([\s\S]*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text);
  if (match === null) return { fields: {}, body: text };
  const fields: FrontMatter = {};
  let key = "";
  for (const line of (match[1] ?? "").split("\n")) {
    const pair = /^([\w-]+)\s*:\s*(.*)$/.exec(line);
    const item = /^\s*-\s+(.*)$/.exec(line);
    if (pair) {
      key = (pair[1] ?? "").toLowerCase();
      const value = (pair[2] ?? "").trim();
      const list = /^\[(.*)\]$/.exec(value);
      fields[key] = list ? splitList(list[1] ?? "") : unquote(value);
    } else if (item && key !== "") {
      const before = fields[key];
      fields[key] = [...(Array.isArray(before) ? before : []), unquote((item[1] ?? "").trim())];
    }
  }
  // Two rules with prose between them are no front matter.
  if (Object.keys(fields).length === 0 && (match[1] ?? "").trim() !== "") return { fields: {}, body: text };
  return { fields, body: text.slice(match[0].length) };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => unquote(entry.trim()))
    .filter((entry) => entry !== "");
}

function unquote(text: string): string {
  const quoted = /^"(.*)"$|^'(.*)'$/.exec(text);
  return quoted ? (quoted[1] ?? quoted[2] ?? "") : text;
}

/** The first of `keys` that holds a non-empty single value. */
export function fieldText(fields: FrontMatter, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** The tags of a front matter block, without `#`. */
export function fieldTags(fields: FrontMatter): string[] {
  const value = fields["tags"] ?? fields["tag"];
  const list = typeof value === "string" ? value.split(/[\s,]+/) : (value ?? []);
  return list.map((tag) => tag.replace(/^#/, "")).filter((tag) => tag !== "");
}
