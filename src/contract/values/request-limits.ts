/** Largest body of a response, bytes as a string of JSON. The whole response of a function has 6 MB at most. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

export const SEED = { min: 0, max: 2 ** 32 - 1, integer: true } as const;

/** Characters of a model name in a path, and of a challenge ID in a promotion. */
export const MAX_ID_LENGTH = 100;

export const AUDIT_LIMITS = {
  days: 31,
  /** Maximum calls read per request, before filters: about 2 MB, less than 1 s. */
  read: 2_000,
} as const;
export const AUDIT_DEFAULTS = { days: 7 } as const;

/** Items on a page of a list. */
export const PAGE_LIMITS = { min: 1, max: 100, default: 20 } as const;

/** Versions on a page of a model's list: as many as one answer holds, since callers from before it had pages expect all. */
export const VERSION_PAGE_LIMITS = { min: 1, max: 1_000, default: 1_000 } as const;

/** Bounds of command line options that no request has. */
export const CLI_LIMITS = {
  /** Times at which `check` removes later candles. */
  cuts: { min: 1, max: 1_000, default: 20 },
  /** Seed of the simulated candles and the cuts of `check`. */
  check_seed: { min: 0, max: 1_000_000, default: 1 },
  /** Entries that `audit` prints; several pages. */
  audit_entries: { min: 1, max: 1_000, default: 20 },
  token_minutes: { min: 1, max: 1_440, default: 60 },
} as const;
