import { describe, expect, it } from "vitest";
import { isIdentifier, isIdentifierLike, isTellingIdentifier } from "../../../ts/text/identifiers.js";
import { isSpaceless } from "../../../ts/text/scripts.js";
import { contentTerms, queryIdentifiers, wholeWords } from "../../../ts/text/tokenise.js";

const words = (text: string): string[] => text.trim().split(/\s+/);

describe("isIdentifier", () => {
  it.each(
    words(`zq0x1 E4021 PROJ-482 web-01 svc-auth-12 user_id __init__x foo_bar_baz readConfig MemoryIndexBuilder
      src/main.ts usr/local/bin src/module1/reader2.ts C:\\temp\\log std::vector kei@example.com example.com README.md
      config.prod.yaml 10.0.0.1 1.2.3 v1.2 9f86d081884c user-profile-service https://example.com/a mp3 F-15`),
  )("takes %s", (word) => {
    expect(isIdentifier(word)).toBe(true);
  });

  it.each(
    words(`water Water NASA part-time well-known state-of-the-art up-to-date 5-year-old 24-hour mid-1990s and/or
      his/her 24/7 12/05/2023 2023-05-08 2023.05.08 3rd 20th 5pm 5:30pm 10km 300dpi 1990s 42 1.5 iPhone YouTube McDonald
      a.m e.g U.S.A end.Then R&D C++`),
  )("leaves %s to sentences", (word) => {
    expect(isIdentifier(word)).toBe(false);
  });
});

describe("weaker forms", () => {
  it("count numbers as identifiers where rarity decides, and not where a name is wanted", () => {
    expect(["8080", "v2", "a.b", "7", "cat"].filter(isIdentifierLike)).toEqual(["8080", "v2", "a.b"]);
    expect(["80801", "e4021", "v2", "a.bcd"].filter(isTellingIdentifier)).toEqual(["e4021", "a.bcd"]);
  });
});

describe("queryIdentifiers", () => {
  it("finds names between the words of both languages, folded, once each", () => {
    const names = (query: string): string[] => queryIdentifiers(query).map(({ name }) => name);
    expect(names("does ZQ0x1's port differ from zq0x1 and svc-auth-12?")).toEqual(["zq0x1", "svc-auth-12"]);
    expect(names("ｚｑ０ｘ１の設定とsrc/main.tsはどこ")).toEqual(["zq0x1", "src/main.ts"]);
    expect(names("what did she say about the part-time job on the 3rd?")).toEqual([]);
  });
});

describe("wholeWords", () => {
  it("tells a name from a longer one", () => {
    const holds = (text: string): boolean => wholeWords(text).has("zq0x1");
    expect(
      ["ZQ0x1.", "(zq0x1)", "host:zq0x1", "/dev/zq0x1", "zq0x1の値", "zq0x1's"].filter(holds),
    ).toHaveLength(6);
    expect(["zq0x10", "zq0x1-old", "zq0x1.bak", "azq0x1", "zq0x1_b"].filter(holds)).toEqual([]);
  });
});

describe("contentTerms", () => {
  it("leaves out function words and particle joints", () => {
    expect(contentTerms("where is the garage")).toEqual(["garag"]);
    expect(contentTerms("東京です")).toEqual(["東京"]);
  });
});

describe("isSpaceless", () => {
  it("holds for text of scripts that are cut into pairs alone", () => {
    expect(["東京", "ー", "ไทย", "서울", "A東", "", "é"].map(isSpaceless)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
