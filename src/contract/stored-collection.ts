import * as z from 'zod';
import { TIMEFRAMES } from './limits.ts';

/** Stored form of a collection; test/contract pins the hash of this shape. */
export const StoredCollection = z.object({
  schema_version: z.literal(2),
  /** Grows with every write: each is conditional on the one before. */
  revision: z.int(),
  /** sha-256 of the request's body: an Idempotency-Key belongs to one. */
  request_digest: z.string(),
  collection_id: z.string(),
  status: z.enum(['pending', 'running', 'completed', 'failed']),
  exchange: z.string(),
  symbols: z.array(z.string()),
  timeframe: z.enum(TIMEFRAMES),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  progress: z.number(),
  candles: z.int(),
  error: z.string().nullable(),
  /** Attempts since the last progress. */
  attempts: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type StoredCollection = z.infer<typeof StoredCollection>;

/** Unfinished collections, and the process that runs them. */
export const CollectionQueue = z.object({
  schema_version: z.literal(2),
  revision: z.int(),
  /** In the order in which they are run. */
  ids: z.array(z.string()),
  /** The process that works on the first, as long as it renews its lease; null when none does. */
  lease_owner: z.string().nullable(),
  /** Unix milliseconds. */
  lease_expires_at: z.int(),
});
export type CollectionQueue = z.infer<typeof CollectionQueue>;
