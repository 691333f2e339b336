import { describe, expect, it } from "vitest";
import { SECRET_MARKER, withoutSecrets } from "../../../ts/domain/secrets.js";

/** Put together here, so that no scanner takes this file for a leak. */
const letters = (length: number): string => "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7".repeat(20).slice(0, length);
const PEM = ["-----BEGIN RSA PRIVATE KEY-----", letters(64), letters(64), `${letters(30)}==`];
const SECRETS: Readonly<Record<string, string>> = {
  "an AWS access key id": `AKIA${letters(16).toUpperCase()}`,
  "a temporary AWS key id": `ASIA${letters(16).toUpperCase()}`,
  "a GitHub token": `ghp_${letters(36)}`,
  "a fine-grained GitHub token": `github_pat_${letters(22)}_${letters(59)}`,
  "an OpenAI key": `sk-${letters(48)}`,
  "an OpenAI project key": `sk-proj-${letters(40)}_${letters(30)}-${letters(20)}`,
  "an Anthropic key": `sk-ant-api03-${letters(60)}-${letters(20)}_AA`,
  "a Slack bot token": `xoxb-123456789012-1234567890123-${letters(24)}`,
  "a Google API key": `AIza${letters(35)}`,
  "a private key": [...PEM, "-----END RSA PRIVATE KEY-----"].join("\n"),
  "a private key in one line": [...PEM, "-----END RSA PRIVATE KEY-----"].join("\\n"),
  "a private key without its end": PEM.join("\n"),
  "an OpenSSH key": `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters(70)}\n-----END OPENSSH PRIVATE KEY-----`,
  "a JSON Web Token": `eyJ${letters(30)}.eyJ${letters(60)}.${letters(43)}`,
};

describe("secrets", () => {
  for (const [name, secret] of Object.entries(SECRETS))
    it(`of the shape of ${name} are replaced whole, wherever they stand`, () => {
      for (const [before, after] of [
        ["", ""],
        ["the key is ", " and the port is 8080"],
        ['KEY="', '"'],
        ["鍵は", "です"],
        ["https://host/?key=", "&x=1"],
      ]) {
        expect(withoutSecrets(`${before}${secret}${after}`)).toBe(`${before}${SECRET_MARKER}${after}`);
      }
    });

  it("are replaced each, and twice is as once", () => {
    const both = `${SECRETS["a GitHub token"]}, ${SECRETS["an OpenAI key"]}`;
    expect(withoutSecrets(both)).toBe(`${SECRET_MARKER}, ${SECRET_MARKER}`);
    expect(withoutSecrets(withoutSecrets(both))).toBe(withoutSecrets(both));
  });

  it("are not what only resembles them", () => {
    for (const text of [
      "the task-runner-of-the-build-pipeline is slow",
      "AKIA is the prefix of an access key, ghp_ of a token, sk- of others",
      "-----BEGIN PUBLIC KEY-----",
      "eyJ starts most tokens. A sentence. Another one.",
      "RISK-assessment-for-the-second-quarter-2026",
    ])
      expect(withoutSecrets(text)).toBe(text);
  });

  it("of hostile texts are looked for without going back and forth", () => {
    const many = `-----BEGIN PRIVATE KEY-----${"-----BEGIN PRIVATE KEY----- x ".repeat(2000)}`;
    expect(withoutSecrets(many)).toContain(SECRET_MARKER);
    expect(withoutSecrets(`eyJ${"a".repeat(200_000)}.`)).toContain("eyJ");
    expect(withoutSecrets("sk-".repeat(100_000))).toBe(SECRET_MARKER);
  });
});
