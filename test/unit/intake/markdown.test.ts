import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draftsFromMarkdown } from "../../../ts/intake/markdown.js";
import { countChars } from "../../../ts/text/characters.js";

const read = (text: string, file = "notes.md") => draftsFromMarkdown(text, file);
const contents = (text: string, file?: string) => read(text, file).map((draft) => draft.content);

describe("draftsFromMarkdown", () => {
  it("makes one draft of a dated heading and takes the date out of its title", () => {
    const drafts = read("# June\n\n## 2026-06-03 Staging database\n\nPort 5433.\n\n- a\n- b\n");
    expect(drafts).toHaveLength(1);
    expect(drafts[0]?.content).toBe("June › Staging database\n\nPort 5433.\n\n- a\n- b");
    expect(drafts[0]?.timestamp).toBe("2026-06-03T00:00:00Z");
  });

  it("leaves a month as the title of the page out of the text and uses it as a date", () => {
    expect(read("# June 2026\n\n## Port\n\nIt is 5433.")[0]).toMatchObject({
      content: "Port\n\nIt is 5433.",
      timestamp: "2026-06-01T00:00:00Z",
    });
  });

  it("makes a draft of each dated list entry", () => {
    const drafts = read(
      "# Log\n\n- 2026-06-14: first firing, cone 6, no cracks in any of the twelve big bowls\n- 2026年7月5日（日）: relay noise\n",
    );
    expect(drafts.map((draft) => draft.timestamp)).toEqual(["2026-06-14T00:00:00Z", "2026-07-05T00:00:00Z"]);
    expect(drafts.map((draft) => draft.content)).toEqual([
      "first firing, cone 6, no cracks in any of the twelve big bowls",
      "Log: relay noise",
    ]);
  });

  it("keeps short entries together and long entries apart", () => {
    expect(contents("# Shopping list\n\n- milk\n- eggs\n- bread\n")).toEqual([
      "Shopping list\n\n- milk\n- eggs\n- bread",
    ]);
    const long = "Jonas wants small commits kept and never squashed in the main branch";
    expect(contents(`# People\n\n- ${long}\n- ${long} 2\n`)).toEqual([long, `${long} 2`]);
  });

  it("keeps the steps of a procedure together", () => {
    expect(contents("# Release procedure of the server\n\n1. make check\n2. make release\n\nDone.")).toEqual([
      "Release procedure of the server\n\n1. make check\n2. make release\n\nDone.",
    ]);
  });

  it("keeps a dated heading without a body and drops an empty outline", () => {
    expect(contents("# Outline\n\n## 2026-06-03 Moved to port 6432\n\n## Later\n")).toEqual([
      "Outline › Moved to port 6432",
    ]);
  });

  it("reads front matter for date, project, channel and tags", () => {
    const text =
      "---\ntitle: Kiln\ndate: 2026-08-01\nproject: kiln-log\ntags: [hardware, '#pottery']\nchannel: home\n---\nSensor.";
    expect(read(text)[0]).toMatchObject({
      content: "Kiln\n\nSensor.",
      timestamp: "2026-08-01T00:00:00Z",
      project_id: "kiln-log",
      channel: "home",
      tags: ["hardware", "pottery"],
    });
    expect(contents("---\n\njust prose between rules\n\n---\n\nmore")).toEqual([
      "just prose between rules\n\nmore",
    ]);
  });

  it("takes a date from the file name when nothing nearer says one", () => {
    expect(read("text", "log/2026-06-03-standup.md")[0]?.timestamp).toBe("2026-06-03T00:00:00Z");
    expect(read("text", "notes.md")[0]?.timestamp).toBeUndefined();
  });

  it("reads no heading, list or date inside a fence, and keeps the fence whole", () => {
    const fence = `\`\`\`sh\n# not a heading\n- 2026-06-03: not an entry\n${"echo hello world\n".repeat(200)}\`\`\``;
    const drafts = contents(`# Scripts of the deployment host\n\nBefore.\n\n${fence}\n\nAfter.`);
    expect(drafts.filter((content) => content.includes(fence))).toHaveLength(1);
    expect(drafts.join("\n")).toContain("After.");
  });

  it("cuts a fence beyond what the store takes into fences", () => {
    const drafts = contents(`\`\`\`js\n${"const a = 1;\n".repeat(3000)}\`\`\``);
    expect(drafts.length).toBeGreaterThan(2);
    for (const content of drafts) expect(content).toMatch(/^```js\n[\s\S]*\n```$/);
  });

  it("gives an unclosed fence and an unclosed front matter as text", () => {
    expect(contents("---\ntitle: x\n\nno end")).toEqual(["title: x\n\nno end"]);
    expect(contents("a\n\n```\ncode")).toEqual(["a\n\n```\ncode"]);
  });

  it("repeats the title on each piece of a long section", () => {
    const drafts = contents(
      `# The long story of the cut-off bug\n\n${"A sentence of the story. ".repeat(200)}`,
    );
    expect(drafts.length).toBeGreaterThan(2);
    for (const content of drafts) {
      expect(content.startsWith("The long story of the cut-off bug\n\n")).toBe(true);
      expect(countChars(content)).toBeLessThanOrEqual(1500);
    }
  });

  it("gives the same ids again, and other ids for other files", () => {
    const ids = (file: string) => read("# A\n\ntext", file).map((draft) => draft.id);
    expect(ids("a.md")).toEqual(ids("a.md"));
    expect(ids("a.md")[0]).toMatch(/^a\.md#[0-9a-f]{12}$/);
    expect(ids("a.md")).not.toEqual(ids("b.md"));
    expect([...(ids(`${"長".repeat(300)}.md`)[0] ?? "")].length).toBeLessThanOrEqual(200);
  });

  it("law: pieces are well-formed, not empty, and not too long unless a fence is in them", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.constantFrom(
        "# A",
        "## 2026-06-03 B",
        "- x",
        "  y",
        "1. z",
        "",
        "---",
        "===",
        "漢字🍞".repeat(300),
        "a".repeat(2000),
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const text = lines.join("\n").replaceAll("`", "").replaceAll("~", "").toWellFormed();
        for (const { content } of read(text)) {
          expect(content.trim()).not.toBe("");
          expect(content.isWellFormed()).toBe(true);
          expect(countChars(content)).toBeLessThanOrEqual(1500 + 100);
        }
      }),
    );
  });
});
