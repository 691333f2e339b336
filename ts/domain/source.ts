// Who said it: the `source` object of a memory, folded to one spelling at write.

/** JSON value as stored; normally `{type, id, name}`. */
export type Source = { readonly [key: string]: unknown } | string;

const TYPES = new Map([
  ["user", "User"],
  ["agent", "Agent"],
  ["assistant", "Agent"],
  ["ai", "Agent"],
  ["system", "System"],
  ["session", "System"],
]);

/** The source of a memory that names none. */
export function defaultSource(agentId: string): Source {
  return { type: "Agent", id: agentId, name: "" };
}

/** Folds type words and older spellings; anything else is kept as given. */
export function canonicalSource(source: Source): Source {
  if (typeof source === "string") {
    const type = TYPES.get(source.toLowerCase());
    return type === undefined ? source : { type, id: "", name: "" };
  }
  if (typeof source["type"] === "string") {
    const type = TYPES.get(source["type"].toLowerCase());
    return type === undefined ? source : { ...source, type };
  }
  return taggedSource(source) ?? source;
}

/** `{"User": "bob"}` and `{"User": {…}}`. */
function taggedSource(source: { readonly [key: string]: unknown }): Source | null {
  const entries = Object.entries(source);
  const [tag, value] = entries[0] ?? ["", null];
  const type = TYPES.get(tag.toLowerCase());
  if (entries.length !== 1 || type === undefined) return null;
  if (typeof value === "string") return { type, id: value, name: type === "System" ? "" : value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return { id: "", name: "", ...value, type };
}
