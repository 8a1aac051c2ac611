import { CodedError } from '#contract/values/errors.ts';
import { readLeverageTiers } from '#domain/data/leverage-tiers.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import type { LeverageTier } from '#engine/instrument.ts';
import type { CcxtClient } from './ccxt-client.ts';
import type { RetryingCaller } from './retry.ts';

/** Exchanges whose tiers are public and in quote currency. OKX's are in contracts; Binance's need an API key. */
const TIERS_IN_QUOTE: ReadonlySet<string> = new Set(['bybit', 'gate', 'bitget']);

/**
 * Leverage tiers of a symbol; undefined in spot, where the exchange has no public call for them, or the call fails: an instrument
 * without tiers is better than none.
 */
export async function fetchLeverageTiers(
  client: Pick<CcxtClient, 'has' | 'fetchMarketLeverageTiers'>,
  caller: Pick<RetryingCaller, 'call'>,
  exchange: string,
  symbol: string,
  signal?: AbortSignal,
): Promise<readonly LeverageTier[] | undefined> {
  if (tradingModeOf(symbol) === 'spot') return undefined;
  if (!TIERS_IN_QUOTE.has(exchange) || client.has.fetchMarketLeverageTiers !== true) return undefined;
  try {
    return readLeverageTiers(await caller.call(() => client.fetchMarketLeverageTiers(symbol), signal));
  } catch (error) {
    if (error instanceof CodedError || error instanceof RangeError) return undefined;
    throw error;
  }
}
