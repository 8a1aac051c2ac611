import type { Collection, CollectionRequest } from '#contract/market-data/market-data.ts';
import type { StoredCollection } from '#contract/market-data/stored-market-data.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { COLLECTION_LIMITS } from '#contract/values/market-data-limits.ts';
import { TRADING_MODES, type TradingMode } from '#contract/values/trading-modes.ts';
import type { Clock, Ids } from '../ports.ts';
import { idFromKey, keyUsedAgain } from '../shared/idempotency-key.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkCount, checkOneOf, checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { type CollectionStore, checkRoom, enqueue, isUnfinished } from './collection-queue.ts';
import type { Exchanges } from './exchange-ports.ts';
import { collectionView } from './read-collections.ts';
import { parseRange } from './time-range.ts';

export interface StartCollectionDeps {
  readonly collections: CollectionStore;
  readonly exchanges: Exchanges;
  readonly defaultExchange: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
}

/**
 * Stores and queues a collection, or returns the one that this owner's Idempotency-Key has started.
 * Throws VAL001, VAL002, VAL003, VAL005, RES005 (key used with another body), HTTP429 (too many unfinished), DATA005.
 */
export async function startCollection(
  deps: StartCollectionDeps,
  input: {
    readonly body: CollectionRequest;
    readonly owner: string;
    /** Header Idempotency-Key: the same key of the same owner always means the same collection. */
    readonly idempotencyKey: string | null;
  },
): Promise<Collection> {
  const { collections, digest } = deps;
  const plan = await planCollection(deps, input.body);
  const id = `co-${idFromKey(deps, input.owner, input.idempotencyKey)}`;
  const request_digest = digest(JSON.stringify(input.body));
  const now = isoTime(deps.clock.now());
  let stored = await collections.get(id);
  if (!stored) {
    await collections.changeQueue(checkRoom);
    stored = await collections.create({
      schema_version: 2,
      revision: 1,
      request_digest,
      collection_id: id,
      status: 'pending',
      ...plan,
      progress: 0,
      candles: 0,
      error: null,
      attempts: 0,
      created_at: now,
      updated_at: now,
    });
  }
  if (stored.request_digest !== request_digest) throw keyUsedAgain({ collection_id: id });
  // The process that stored it may have died before it was queued.
  if (isUnfinished(stored)) await collections.changeQueue((queue) => enqueue(queue, id));
  return collectionView(stored);
}

/** Checks a request and fills in its defaults. Throws VAL001, VAL002, VAL003, VAL005. */
async function planCollection(
  deps: Pick<StartCollectionDeps, 'exchanges' | 'defaultExchange' | 'clock'>,
  body: CollectionRequest,
): Promise<Pick<StoredCollection, 'exchange' | 'symbols' | 'timeframe' | 'start' | 'end'>> {
  const mode = checkOneOf(body.trading_mode ?? BACKTEST_DEFAULTS.trading_mode, 'trading_mode', TRADING_MODES);
  const symbols = checkSymbols(body.symbols, mode);
  const timeframe = checkTimeframe(body.timeframe, 'timeframe');
  const exchange = await deps.exchanges.open(body.exchange ?? deps.defaultExchange, mode);
  const range = parseRange(body);
  const now = deps.clock.now();
  const end = range.end ?? now;
  const start = range.start ?? Math.min(end, now) - BACKTEST_DEFAULTS.date_range_days * DAY_MS;
  if (start >= now) {
    throw new CodedError('VAL001', {
      message: `start is in the future: ${isoTime(start)}. Pass a time before now`,
      field: 'start',
      context: { start: isoTime(start), now: isoTime(now) },
    });
  }
  return { exchange: exchange.name, symbols, timeframe, start: isoTime(start), end: isoTime(end) };
}

function checkSymbols(symbols: readonly string[], mode: TradingMode): string[] {
  checkCount(symbols.length, 'symbols', COLLECTION_LIMITS.symbols, 'symbols');
  return [...new Set(symbols.map((symbol, index) => checkSymbol(symbol, `symbols.${index}`, mode)))];
}
