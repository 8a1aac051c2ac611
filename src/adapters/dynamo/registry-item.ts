import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type {
  ChallengeEvent,
  StoredChallenge,
  StoredEvaluation,
} from '#contract/registry/stored-challenge.ts';
import {
  CatalogRow,
  type RegistryEvent,
  type Stage,
  type StoredModel,
  type StoredVersion,
} from '#contract/registry/stored-registry.ts';
import { APPROVAL_PARTITION } from '#contract/values/tables.ts';
import { comparableValue } from '#contract/values/undefined-metrics.ts';
import type { IdempotencyKey } from '#domain/transitions/apply-transition.ts';
import { FOUND_KEY, UNDEFINED_KEY } from '#domain/transitions/catalog-order.ts';
import { lookAheadStateOfVersion } from '#domain/transitions/check-status.ts';
import type { CatalogSort } from '#domain/transitions/registry-store.ts';
import { parseStored } from './stored-items.ts';

/** Keys and index attributes of the items of registry and challenges. */

export type ItemKey = Readonly<Record<'pk' | 'sk', string>>;

export const VERSION_PREFIX = 'VERSION#';
export const EVENT_PREFIX = 'EVENT#';

/** Rows in the catalog, by stage. */
export const COUNTS_KEY: ItemKey = { pk: 'CATALOG', sk: 'COUNTS' };

/** Partition of a model: its transitions and reads need only this one. */
export function partitionOf(model: string): string {
  return `MODEL#${model}`;
}

export function modelKey(model: string): ItemKey {
  return { pk: partitionOf(model), sk: 'META' };
}

export function versionKey(model: string, version: string): ItemKey {
  return { pk: partitionOf(model), sk: `${VERSION_PREFIX}${paddedVersion(version)}` };
}

/** Sort key of an event. Time and sequence number never decrease, so events sort in the order of the transitions. */
export function eventKey({ model_name, at, sequence }: RegistryEvent): ItemKey {
  return { pk: partitionOf(model_name), sk: `${EVENT_PREFIX}${at}#${String(sequence).padStart(9, '0')}` };
}

/** True for a sort key of the form that {@link eventKey} makes. */
export function isEventSortKey(key: string): boolean {
  return /^EVENT#\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#\d{9}$/.test(key);
}

/** Principal and key are separate attributes, so that two pairs never share a key. */
export function idempotencyKey({ principal, key }: IdempotencyKey): ItemKey {
  return { pk: `IDEM#${principal}`, sk: `KEY#${key}` };
}

/** Attribute by which each order of the catalog is indexed. */
export const SORT_ATTRIBUTES = {
  name: 'catalog_name',
  sharpe: 'catalog_sharpe',
  drawdown: 'catalog_drawdown',
} as const satisfies Record<CatalogSort['field'], string>;

/** Every attribute that puts an item into the catalog. */
export const CATALOG_ATTRIBUTES = ['catalog', ...Object.values(SORT_ATTRIBUTES), 'catalog_row'] as const;

export function isInCatalog(stage: Stage | null): stage is CatalogRow['stage'] {
  return stage === 'Production' || stage === 'Staging';
}

/** Index attributes of a version; undefined in a stage that the catalog does not list. */
export function catalogAttributes(
  version: StoredVersion,
  model: StoredModel,
): Record<(typeof CATALOG_ATTRIBUTES)[number], unknown> | undefined {
  if (!isInCatalog(version.stage)) return undefined;
  const id = `#${version.model_name}#${paddedVersion(version.version)}`;
  const sharpe = comparableValue(version.metrics, 'sharpe_ratio');
  const last = lookAheadStateOfVersion(version) === 'found' ? FOUND_KEY : '';
  return {
    catalog: version.stage,
    catalog_name: id.slice(1),
    catalog_sharpe: `${last}${sharpe === null ? UNDEFINED_KEY : sortableNumber(sharpe)}${id}`,
    catalog_drawdown: `${last}${sortableNumber(Math.abs(version.metrics.max_drawdown_pct))}${id}`,
    catalog_row: JSON.stringify(catalogRow(version, version.stage, model)),
  };
}

function catalogRow(version: StoredVersion, stage: CatalogRow['stage'], model: StoredModel): CatalogRow {
  const { config, metrics } = version;
  return CatalogRow.parse({
    ...version,
    stage,
    name: config.strategy,
    exchange: config.exchange,
    pairs: config.pairs,
    timeframe: config.timeframe,
    ml_engine: {
      enabled: config.ml_engine !== undefined,
      model_type: config.ml_engine?.model_type ?? 'none',
    },
    metrics,
    owner: model.owner,
    validation_status: version.validation.status,
    look_ahead: lookAheadStateOfVersion(version),
  });
}

/** String of 16 characters that sorts like the number: its bits, inverted for negative numbers. */
export function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const sign = 1n << 63n;
  const sortable = bits & sign ? ~bits & (2n * sign - 1n) : bits | sign;
  return sortable.toString(16).padStart(16, '0');
}

/**
 * Value of an item.
 *
 * @throws CodedError SVC001 that names the item and the field, if the item does not match the schema
 */
export function readItem<T>(schema: z.ZodType<T>, item: Record<string, unknown>): T {
  return parseStored(schema, item, () => `The registry's item ${String(item.pk)} ${String(item.sk)}`);
}

function paddedVersion(version: string): string {
  return version.padStart(6, '0');
}

export const TRADE_PREFIX = 'TRADE#';
export const CHALLENGE_PREFIX = 'CHALLENGE#';
export const CHALLENGE_EVENT_PREFIX = 'EVENT#';
export const EVALUATION_PREFIX = 'EVALUATION#';
/** The only partition of the index of challenges that deadlines can still change. */
export const UNFINISHED = 'unfinished';

export function challengePartition(id: string): string {
  return `CHALLENGE#${id}`;
}

export function challengeKey(id: string): ItemKey {
  return { pk: challengePartition(id), sk: 'META' };
}

export function tradeKey(id: string, sequence: number): ItemKey {
  return { pk: challengePartition(id), sk: `${TRADE_PREFIX}${padded(sequence)}` };
}

/** Key of the item with a trade's sequence number. Hashed: a trade ID may exceed the length and characters of a key. */
export function tradeIdKey(id: string, tradeId: string): ItemKey {
  return { pk: challengePartition(id), sk: `TRADE-ID#${hashOf(tradeId)}` };
}

export function assignmentKey(id: string, key: string): ItemKey {
  return { pk: challengePartition(id), sk: `ASSIGNMENT#${hashOf(key)}` };
}

export function challengeEventKey({ challenge_id, sequence }: ChallengeEvent): ItemKey {
  return { pk: challengePartition(challenge_id), sk: `${CHALLENGE_EVENT_PREFIX}${padded(sequence)}` };
}

export function evaluationKey({ challenge_id, sequence }: StoredEvaluation): ItemKey {
  return { pk: challengePartition(challenge_id), sk: `${EVALUATION_PREFIX}${padded(sequence)}` };
}

/** Key of a challenge in its model's list. */
export function listKey({ model_name, challenge_id }: StoredChallenge): ItemKey {
  return { pk: partitionOf(model_name), sk: `${CHALLENGE_PREFIX}${challenge_id}` };
}

/** Start of the keys of a model's list of requests for approval. */
export const MODEL_APPROVAL_PREFIX = 'APPROVAL#';

export function approvalKey(id: string): ItemKey {
  return { pk: APPROVAL_PARTITION, sk: id };
}

/** Key of a request for approval in its model's list. */
export function approvalListKey(model: string, id: string): ItemKey {
  return { pk: partitionOf(model), sk: `${MODEL_APPROVAL_PREFIX}${id}` };
}

function padded(sequence: number): string {
  return String(sequence).padStart(9, '0');
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
