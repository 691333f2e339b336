// How one environment variable is read: trimmed, checked, and replaced by its default with a warning.

import { userPath } from "../files.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface NumberRule {
  readonly fallback: number;
  readonly min?: number;
  readonly max?: number;
}

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

export class SettingReader {
  readonly warnings: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The first of these variables that is set and not empty, as written. */
  text(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.#environment[name];
      if (value !== undefined && value !== "") return value;
    }
    return undefined;
  }

  /** A path, with `~` as the home folder. Throws `invalid_setting` for another account's `~name`. */
  path(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : userPath(name, value, "invalid_setting");
  }

  /** The variable as it is, also when it is empty. */
  raw(name: string): string | undefined {
    return this.#environment[name];
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.text(name)?.trim().toLowerCase();
    if (value === undefined) return fallback;
    if (TRUE.has(value)) return true;
    if (FALSE.has(value)) return false;
    return this.#fallBack(name, "must be true or false", fallback);
  }

  choice<const T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = this.text(name)?.trim().toLowerCase();
    if (value === undefined) return fallback;
    const known = values.find((candidate) => candidate === value);
    return known ?? this.#fallBack(name, `must be one of ${values.join(", ")}`, fallback);
  }

  integer(name: string, rule: NumberRule): number {
    const value = this.text(name)?.trim();
    if (value === undefined) return rule.fallback;
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
    return this.#inRange(name, Number.isSafeInteger(number) ? number : Number.NaN, "a whole number", rule);
  }

  number(name: string, rule: NumberRule): number {
    const value = this.text(name)?.trim();
    if (value === undefined) return rule.fallback;
    return this.#inRange(name, value === "" ? Number.NaN : Number(value), "a number", rule);
  }

  #inRange(name: string, value: number, what: string, rule: NumberRule): number {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule;
    if (Number.isFinite(value) && value >= min && value <= max) return value;
    const from = rule.min === undefined ? "" : ` from ${rule.min}`;
    const to = rule.max === undefined ? "" : ` to ${rule.max}`;
    return this.#fallBack(name, `must be ${what}${from}${to}`, rule.fallback);
  }

  #fallBack<T>(name: string, rule: string, fallback: T): T {
    this.warnings.push(`${name} ${rule}; ${String(fallback)} is used`);
    return fallback;
  }
}
