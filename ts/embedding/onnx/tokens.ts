// Text -> token ids, cut to the model's length with the special tokens at both ends kept.

import { Tokenizer } from "@huggingface/tokenizers";

/** Tokens of more characters are rare: what stands behind so many cannot matter, and costs time to split. */
const CHARS_PER_TOKEN = 16;

export class Tokens {
  /** what fills up shorter texts; null when the tokenizer does not say */
  readonly padId: number | null;
  readonly #tokenizer: Tokenizer;
  readonly #maxTokens: number;
  readonly #unknownId: number | undefined;
  /** special tokens in front of a text and behind it */
  readonly #head: readonly number[];
  readonly #tail: readonly number[];

  /** @param description what `tokenizer.json` says, `config` what `tokenizer_config.json` does */
  constructor(description: object, config: object, maxTokens: number) {
    this.#tokenizer = new Tokenizer(description, config);
    this.#maxTokens = maxTokens;
    this.#unknownId = unknownIdOf(description, this.#tokenizer);
    this.padId = padIdOf(description, config, this.#tokenizer);
    const whole: number[] = this.#tokenizer.encode("a").ids;
    const bare = this.#bare("a");
    const at = whole.findIndex((_, i) => bare.every((id, j) => whole[i + j] === id));
    this.#head = at < 0 ? [] : whole.slice(0, at);
    this.#tail = at < 0 ? [] : whole.slice(at + bare.length);
  }

  /**
   * Ids of the text behind its prefix. Null for a text that the model does not know: one without a token, or of
   * which half of the tokens are the unknown one. Any two of them would pass for the same.
   */
  idsOf(text: string, prefix: string): number[] | null {
    const bare = this.#bare(prefix + text.slice(0, this.#maxTokens * CHARS_PER_TOKEN));
    // The prefix is known to every model, and says nothing of the text.
    const own = bare.slice(prefix === "" ? 0 : this.#bare(prefix.trimEnd()).length);
    const unknown = own.filter((id) => id === this.#unknownId).length;
    if (own.length === 0 || unknown * 2 >= own.length) return null;
    const room = this.#maxTokens - this.#head.length - this.#tail.length;
    return [...this.#head, ...bare.slice(0, Math.max(0, room)), ...this.#tail];
  }

  #bare(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}

function unknownIdOf(description: object, tokenizer: Tokenizer): number | undefined {
  const { model } = description as { model?: { unk_id?: unknown; unk_token?: unknown } };
  if (typeof model?.unk_id === "number") return model.unk_id;
  return typeof model?.unk_token === "string" ? tokenizer.token_to_id(model.unk_token) : undefined;
}

const USUAL_PADS = ["<pad>", "[PAD]"];

function padIdOf(description: object, config: object, tokenizer: Tokenizer): number | null {
  const { padding } = description as { padding?: { pad_id?: unknown } | null };
  if (typeof padding?.pad_id === "number") return padding.pad_id;
  const { pad_token: named } = config as { pad_token?: unknown };
  const content = typeof named === "object" ? (named as { content?: unknown } | null)?.content : named;
  const ids = [content, ...USUAL_PADS].map((token) =>
    typeof token === "string" ? tokenizer.token_to_id(token) : undefined,
  );
  return ids.find((id) => id !== undefined) ?? null;
}
