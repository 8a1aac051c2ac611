import {
  BACKTEST_DEFAULTS as DEFAULTS,
  BACKTEST_LIMITS as LIMITS,
} from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SPOT_EXCHANGES, TRADING_MODES, type TradingMode } from '#contract/values/trading-modes.ts';
import { UNIVERSE_LIMITS } from '#contract/values/universe-limits.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { checkCount, checkNumber, checkOneOf, checkSymbol } from '../shared/validate.ts';

interface MarketRequest {
  readonly trading_mode?: string | undefined;
  readonly pairs?: readonly string[] | undefined;
  readonly leverage?: number | undefined;
}

/** Candidates of a universe. */
interface Candidates {
  readonly named?: readonly string[] | undefined;
  /** Those in place of the pairs of the strategy, whose first pair is given. */
  readonly find: (like: string) => Promise<string[]>;
}

interface ResolvedMarket {
  /** Present in spot only: configurations of futures keep their digest. */
  readonly mode: { readonly trading_mode?: 'spot' };
  readonly pairs: string[];
  readonly leverage: number;
  readonly warnings: readonly string[];
}

/**
 * Trading mode of a request with what depends on it: format and default of the pairs, leverage. Throws VAL002 for a pair of
 * the other mode, VAL005 for an unknown mode, a repeated pair, leverage in spot, or an exchange without spot markets.
 */
export async function resolveTradingMode(
  input: MarketRequest,
  strategy: DefinitionData,
  exchange: string,
  candidates?: Candidates,
): Promise<ResolvedMarket> {
  const mode = checkOneOf(input.trading_mode ?? DEFAULTS.trading_mode, 'config.trading_mode', TRADING_MODES);
  const isSpot = mode === 'spot';
  if (isSpot) checkSpotExchange(exchange);
  const own = isSpot ? spotPairs(strategy.pairs) : strategy.pairs;
  const leverage = strategy.leverage ?? DEFAULTS.leverage;
  const asked = input.leverage ?? (isSpot ? DEFAULTS.leverage : leverage);
  return {
    mode: isSpot ? { trading_mode: 'spot' } : {},
    pairs: await resolvePairs(input.pairs, own, mode, candidates),
    leverage: isSpot ? noLeverage(asked) : checkNumber(asked, 'config.leverage', LIMITS.leverage),
    warnings:
      isSpot && input.leverage === undefined && leverage !== DEFAULTS.leverage
        ? [`config.leverage is 1 instead of the ${leverage} of ${strategy.name}: spot has no leverage`]
        : [],
  };
}

/** The pairs of a run, or the candidates of its universe: those named, else all stored ones. */
async function resolvePairs(
  pairs: readonly string[] | undefined,
  own: readonly string[],
  mode: TradingMode,
  candidates: Candidates | undefined,
): Promise<string[]> {
  if (candidates?.named)
    return checkPairs(candidates.named, mode, 'config.universe.candidates', UNIVERSE_LIMITS.candidates);
  if (candidates && !pairs) return candidates.find(own[0]!);
  return checkPairs(pairs ?? own, mode, 'config.pairs', LIMITS.pairs);
}

/** Spot pairs of perpetuals: without the settlement currency, each once. */
export function spotPairs(pairs: readonly string[]): string[] {
  return [...new Set(pairs.map((pair) => pair.split(':')[0]!))];
}

function checkSpotExchange(exchange: string): void {
  const spot = SPOT_EXCHANGES.get(exchange);
  if (spot === undefined) return;
  throw new CodedError('VAL005', {
    message: `config.exchange must have spot markets with config.trading_mode spot: ${exchange} has perpetuals only, set it to ${spot}`,
    field: 'config.exchange',
    context: { value: exchange, trading_mode: 'spot' },
  });
}

function noLeverage(leverage: number): number {
  if (leverage === DEFAULTS.leverage) return leverage;
  throw new CodedError('VAL005', {
    message: 'config.leverage must be 1 with config.trading_mode spot: remove it, or trade futures',
    field: 'config.leverage',
    context: { value: leverage, trading_mode: 'spot' },
  });
}

function checkPairs(
  pairs: readonly string[],
  mode: TradingMode,
  field: string,
  limits: { readonly min: number; readonly max: number },
): string[] {
  checkCount(pairs.length, field, limits, 'symbols');
  for (const [index, pair] of pairs.entries()) {
    checkSymbol(pair, `${field}.${index}`, mode);
    if (pairs.indexOf(pair) === index) continue;
    throw new CodedError('VAL005', {
      message: `${field} names ${pair} twice: name each pair once`,
      field: `${field}.${index}`,
      context: { value: pair },
    });
  }
  return [...pairs];
}
