export const SMOKE_TAG: string;
export const SMALL_TALK: readonly string[];
export const CONNECTING: readonly string[];
