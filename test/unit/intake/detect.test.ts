import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readQuestions } from "../../../ts/cli/demo/questions.js";
import { readLines } from "../../../ts/intake/decode.js";
import { estimateDrafts, findFiles, readDrafts } from "../../../ts/intake/detect.js";
import { collect, folderOf } from "./support.js";

const examples = fileURLToPath(new URL("../../../examples/", import.meta.url));
// "メモ：港は6432" in Shift_JIS.
const SHIFT_JIS = Uint8Array.from([
  0x83, 0x81, 0x83, 0x82, 0x81, 0x46, 0x8d, 0x60, 0x82, 0xcd, 0x36, 0x34, 0x33, 0x32,
]);

describe("readDrafts", () => {
  it("reads each kind of file in a fixed order and says what it left out", async () => {
    const root = folderOf({
      "b.txt": "plain text",
      "a.md": "# Title\n\nbody",
      "c.jsonl": '{"content":"plain object"}\n',
      "d/session.jsonl": `${JSON.stringify({ type: "user", sessionId: "s", message: { content: "typed" } })}\n`,
      "e.png": "x",
      "node_modules/x.md": "no",
      ".git/y.md": "no",
    });
    const { drafts, notes } = await collect(readDrafts([root]));
    expect(drafts.map((draft) => draft.content)).toEqual([
      "Title\n\nbody",
      "plain text",
      "plain object",
      "User: typed",
    ]);
    expect(drafts[0]?.id).toMatch(/^in\/a\.md#/);
    expect(notes.map((note) => note.text)).toEqual(["1 file other than Markdown, text and JSONL left out"]);
  });

  it("takes odd files: empty, CRLF, BOM, UTF-16, NUL in text", async () => {
    const root = folderOf({
      "a-empty.md": "",
      "b-crlf.md": "# T\r\n\r\n- 2026-06-03: one\r\n- 2026-06-04: two\r\n",
      "c-bom.txt": "\ufeffwith mark",
      "d-utf16.txt": Buffer.from("\ufeff二バイト", "utf16le"),
      "e-nul.txt": `${"a long enough text ".repeat(10)}\0end`,
      "f-blank.md": "\n \n",
    });
    const { drafts, notes } = await collect(readDrafts([root]));
    expect(drafts.map((draft) => draft.content.slice(-9))).toEqual([
      "T: one",
      "T: two",
      "with mark",
      "二バイト",
      " text end",
    ]);
    expect(notes.map((note) => note.file)).toEqual(["in/a-empty.md", "in/e-nul.txt"]);
  });

  it("names the encoding of a Shift_JIS file and stores nothing of it", async () => {
    const root = folderOf({
      "memo.txt": SHIFT_JIS,
      "memo.jsonl": Buffer.concat([SHIFT_JIS, Buffer.from("\n")]),
    });
    const { drafts, notes } = await collect(readDrafts([root]));
    expect(drafts).toEqual([]);
    for (const note of notes)
      expect(note.text).toBe("not UTF-8, looks like Shift_JIS: save it as UTF-8 and try again");
    expect(notes).toHaveLength(2);
  });

  it("skips binaries and files that are too big, with a note each", async () => {
    const root = folderOf({ "bin.md": Uint8Array.from({ length: 500 }, (_, i) => i % 7), "big.txt": "x" });
    truncateSync(join(root, "big.txt"), 51 * 1024 * 1024);
    const { drafts, notes } = await collect(readDrafts([root]));
    expect(drafts).toEqual([]);
    expect(notes.map((note) => note.text)).toEqual([
      "larger than 50 MB, left out",
      "a binary file, left out",
    ]);
  });

  it("is safe on links in circles and reads a file with two names once", async () => {
    const root = folderOf({ "a.md": "once" });
    mkdirSync(join(root, "deep"));
    symlinkSync(root, join(root, "deep", "up"));
    symlinkSync(join(root, "a.md"), join(root, "b.md"));
    symlinkSync(join(root, "gone.md"), join(root, "c.md"));
    symlinkSync(join(root, "loop.md"), join(root, "loop.md"));
    const { drafts, notes } = await collect(readDrafts([root]));
    expect(drafts).toHaveLength(1);
    expect(notes.map((note) => note.text)).toEqual([
      "does not exist",
      "a link that leads to itself, left out",
    ]);
  });

  it("reads a JSONL with a line of 5 MB and one that is cut off", async () => {
    const root = folderOf({});
    writeFileSync(
      join(root, "x.jsonl"),
      `${JSON.stringify({ content: "長".repeat(1_700_000) })}\n{"content":"b"}\n{"cont`,
    );
    const { drafts, notes } = await collect(readDrafts([join(root, "x.jsonl")]));
    expect(drafts.map((draft) => draft.content.length)).toEqual([1_700_000, 1]);
    expect(notes).toEqual([expect.objectContaining({ line: 3 })]);
  });

  it("gives a path that does not exist as a note", async () => {
    const { notes } = await collect(readDrafts([join(folderOf({}), "no-such")]));
    expect(notes).toEqual([{ file: "no-such", text: "does not exist" }]);
  });
});

it("readLines leaves out a line beyond its bound and keeps counting", async () => {
  const root = folderOf({ "x.jsonl": `${"a".repeat(2_000_000)}\r\nb\r\n\nc` });
  const lines = [];
  for await (const line of readLines(join(root, "x.jsonl"), 1024 * 1024))
    lines.push([line.number, line.text]);
  expect(lines).toEqual([
    [1, undefined],
    [2, "b"],
    [3, ""],
    [4, "c"],
  ]);
});

describe("the example notes", () => {
  it("are read without a note, with dates and unique ids", async () => {
    const { drafts, notes } = await collect(readDrafts([join(examples, "notes")]));
    expect(notes).toEqual([]);
    expect(drafts.length).toBeGreaterThanOrEqual(60);
    expect(new Set(drafts.map((draft) => draft.id)).size).toBe(drafts.length);
    expect(drafts.filter((draft) => !draft.timestamp?.startsWith("2026-"))).toEqual([]);
    const { files } = await findFiles([join(examples, "notes")]);
    expect(await estimateDrafts(files)).toMatchObject({ drafts: drafts.length, exact: true });
  });

  it("answer each example question in exactly one note", async () => {
    const { drafts } = await collect(readDrafts([join(examples, "notes")]));
    const questions = await readQuestions(join(examples, "questions.json"));
    expect(questions.filter((question) => question.expect === null)).toHaveLength(1);
    for (const { expect: phrase } of questions) {
      if (phrase !== null)
        expect(
          drafts.filter((draft) => draft.content.includes(phrase)),
          phrase,
        ).toHaveLength(1);
    }
  });
});
