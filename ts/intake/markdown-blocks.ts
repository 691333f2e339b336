// Markdown to sections of blocks: just enough structure to cut notes well. Inline marks stay as they are.

/** A run of lines that should stay together. */
export interface Block {
  kind: "paragraph" | "bullet" | "step" | "fence";
  text: string;
}

/** A heading with what stands directly under it. */
export interface Section {
  /** Headings from the document title down to this one; empty before the first heading. */
  path: string[];
  blocks: Block[];
}

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const BULLET = /^ {0,1}[-*+][ \t]+\S/;
const STEP = /^ {0,1}\d{1,9}[.)][ \t]+\S/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;

/** Sections in document order. Front matter must be gone already. */
export function sectionsOf(body: string): Section[] {
  const reader = new Reader();
  for (const line of body.split("\n")) reader.take(line);
  return reader.end();
}

class Reader {
  private readonly sections: Section[] = [];
  private readonly headings: { level: number; title: string }[] = [];
  private section: Section = { path: [], blocks: [] };
  private lines: string[] = [];
  private kind: Block["kind"] = "paragraph";
  /** The mark that closes the open fence, if one is open. */
  private fence: string | undefined;
  private sawBlank = false;

  take(line: string): void {
    if (this.fence !== undefined) {
      this.lines.push(line);
      const close = line.trim();
      if (close.startsWith(this.fence) && /^(`+|~+)$/.test(close)) {
        this.fence = undefined;
        if (this.kind === "fence") this.flush();
      }
      return;
    }
    if (line.trim() === "") {
      // Inside an entry a blank line may be followed by an indented paragraph of the same entry.
      if (this.kind === "paragraph") this.flush();
      else this.sawBlank = true;
      return;
    }
    const inEntry = this.lines.length > 0 && this.kind !== "paragraph";
    const continues = inEntry && /^(?: {2,}|\t)/.test(line);
    if (inEntry && this.sawBlank && !continues) this.flush();
    const open = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (open && (continues || FENCE.test(line)) && !(open[1]?.startsWith("`") && open[2]?.includes("`"))) {
      if (!continues) {
        this.flush();
        this.kind = "fence";
      }
      this.fence = open[1];
      this.push(line);
      return;
    }
    if (!continues && this.takeStructure(line)) return;
    this.push(line);
  }

  /** Headings, rules and the starts of entries. */
  private takeStructure(line: string): boolean {
    const heading = HEADING.exec(line);
    if (heading) {
      this.open((heading[1] ?? "#").length, (heading[2] ?? "").trim());
      return true;
    }
    const underline = /^ {0,3}(=+|-+)[ \t]*$/.exec(line);
    if (underline && this.kind === "paragraph" && this.lines.length === 1) {
      const title = (this.lines[0] ?? "").trim();
      this.lines = [];
      this.open(underline[1]?.startsWith("=") ? 1 : 2, title);
      return true;
    }
    if (RULE.test(line)) {
      this.flush();
      return true;
    }
    const kind = BULLET.test(line) ? "bullet" : STEP.test(line) ? "step" : undefined;
    if (kind === undefined) return false;
    this.flush();
    this.kind = kind;
    this.push(line);
    return true;
  }

  end(): Section[] {
    this.flush();
    this.sections.push(this.section);
    return this.sections.filter((section) => section.blocks.length > 0 || section.path.length > 0);
  }

  private push(line: string): void {
    if (this.sawBlank && this.lines.length > 0) this.lines.push("");
    this.sawBlank = false;
    this.lines.push(line);
  }

  private flush(): void {
    const text = this.lines.join("\n").replace(/\s+$/, "");
    if (text.trim() !== "") this.section.blocks.push({ kind: this.kind, text });
    this.lines = [];
    this.kind = "paragraph";
    this.fence = undefined;
    this.sawBlank = false;
  }

  private open(level: number, title: string): void {
    this.flush();
    this.sections.push(this.section);
    while ((this.headings.at(-1)?.level ?? 0) >= level) this.headings.pop();
    this.headings.push({ level, title });
    this.section = { path: this.headings.map((heading) => heading.title), blocks: [] };
  }
}
