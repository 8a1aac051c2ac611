import type { NumberBounds } from './bounds.ts';

/** Lists of MLflow's API. */
export const MLFLOW_LIMITS = {
  max_results: { min: 1, max: 50_000, default: 100 },
  /** Largest page of runs: each is read whole. A longer list has further pages. */
  runs: 200,
  /** Newest experiments that lists cover. */
  experiments: 1_000,
  /** Characters of a filter. */
  filter: { max: 6_000 },
  order_by: { max: 10 },
  /** Experiments whose jobs are listed one by one; for more, all jobs are listed. */
  listed_experiments: 10,
} as const;

/** Characters of a comment, reason or note that goes into a history. */
export const MAX_NOTE_LENGTH = 2000;
/** Characters of the key of a client's signal or position. */
export const MAX_ASSIGNMENT_KEY_LENGTH = 256;

/** Bounds of a registration: characters, and the number of tags. */
export const REGISTRATION_LIMITS = {
  container_image_uri: 500,
  description: 1000,
  tags: 20,
  /** With key and value, such as an address of a pipeline: the catalog has all tags of a version three times. */
  tag: 250,
} as const;

/** Aliases of a model that users set, and characters of one. */
export const ALIAS_LIMITS = { aliases: 20, alias: 100 } as const;

/** Staging warns beyond these values. A requirement of the release policy replaces the value. */
export const STAGING_WARNINGS = {
  /** Minimum trades for a meaningful result. */
  min_trades: 100,
  /** Maximum days since the end of the candles: markets change. */
  max_age_days: 90,
} as const;

/** Bounds of the requirements of a release policy. */
export const POLICY_LIMITS = {
  minTrades: { min: 1, max: 1_000_000, integer: true },
  minDays: { min: 1, max: 10_000, integer: true },
  maxEvidenceAgeDays: { min: 1, max: 10_000, integer: true },
  minSharpe: { min: -1e6, max: 1e6 },
  minProfitFactor: { min: 0, max: 1e6 },
  maxDrawdown: { min: -1e6, max: 1e6 },
  minDeflatedSharpe: { min: 0, max: 1 },
} as const satisfies Readonly<Record<string, NumberBounds>>;
