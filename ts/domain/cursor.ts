// Where the next page of a newest-first list begins: behind a row, named by its storage time and id, so that
// rows stored meanwhile shift nothing.

export interface ListCursor {
  readonly createdAt: string;
  readonly id: number;
}

/** Opaque to callers. */
export function formatCursor({ createdAt, id }: ListCursor): string {
  return Buffer.from(`${createdAt}/${id}`).toString("base64url");
}

/** Null for anything that `formatCursor` did not make. */
export function parseCursor(cursor: string): ListCursor | null {
  if (cursor.length > 100) return null;
  const parts = /^([\d :.T-]{10,40})\/(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString("utf8"));
  return parts === null ? null : { createdAt: parts[1] as string, id: Number(parts[2]) };
}
