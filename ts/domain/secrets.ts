// What keys and tokens look like, as data: texts that are shown unasked must not repeat them.

interface SecretShape {
  readonly name: string;
  /** global; never matches the empty text, and takes time that grows with the text */
  readonly pattern: RegExp;
}

/** A key that is cut short still shows half of itself, so each shape takes all that may belong to it. */
const SECRET_SHAPES: readonly SecretShape[] = [
  {
    // Without its end marker, the lines of base64 that follow.
    name: "PEM private key",
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----BEGIN )[\s\S]){0,16000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})*(?:(?:\s|\\[nr])+[A-Za-z0-9+/]+={1,2})?)/g,
  },
  { name: "AWS access key id", pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16,}/g },
  {
    name: "AWS secret access key",
    pattern: /(?<=aws_?secret_?access_?key["']?\s{0,3}[=:]\s{0,3}["']?)[A-Za-z0-9/+]{40}/gi,
  },
  {
    name: "GitHub token",
    pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g,
  },
  {
    name: "OpenAI, Anthropic or Stripe key",
    pattern: /(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,})/g,
  },
  { name: "Slack token", pattern: /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/g },
  { name: "Google API key", pattern: /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}/g },
  {
    name: "JSON Web Token",
    pattern: /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  },
];

/** Stands for a secret; shorter than every one of them. */
export const SECRET_MARKER = "[secret]";

/** Beginnings of the shapes: most texts have none, and are not looked at further. */
const MAY_HOLD =
  /-----BEGIN |AKIA|ASIA|secret_?access_?key|gh[pousr]_|github_pat_|sk-|[sr]k_|xox|xapp-|AIza|eyJ/i;

/** The text with a marker in the place of every key and token that is known by its shape. */
export function withoutSecrets(text: string): string {
  if (!MAY_HOLD.test(text)) return text;
  return SECRET_SHAPES.reduce((left, { pattern }) => left.replace(pattern, SECRET_MARKER), text);
}
