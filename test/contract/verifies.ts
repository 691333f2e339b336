// A test that cites the promise it checks.

import { it } from "vitest";
import { REQUIREMENTS, type RequirementId } from "./requirements.js";

type Body = () => void | Promise<void>;

interface Verifies {
  (id: RequirementId, body: Body): void;
  (id: RequirementId, detail: string, body: Body): void;
  skipIf(condition: boolean): Verifies;
}

function titleOf(id: string, detail: string | null): string {
  if (!Object.hasOwn(REQUIREMENTS, id)) throw new Error(`no requirement has the id ${id}`);
  const { sentence } = REQUIREMENTS[id as RequirementId];
  return `${id}: ${sentence}${detail === null ? "" : ` (${detail})`}`;
}

function make(skip: boolean): Verifies {
  return Object.assign(
    (id: RequirementId, ...rest: [Body] | [string, Body]) => {
      const [detail, body] = rest.length === 1 ? [null, rest[0]] : rest;
      it.skipIf(skip)(titleOf(id, detail), body);
    },
    { skipIf: make },
  );
}

export const verifies = make(false);
