import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { UniverseRequest } from '#contract/config/universe.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import {
  UNIVERSE_DEFAULTS as DEFAULTS,
  UNIVERSE_LIMITS as LIMITS,
  REBALANCES,
  UNIVERSE_RULES,
} from '#contract/values/universe-limits.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { ownTimeframes } from '../data/candle-source.ts';
import type { SeriesStore } from '../ports.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber, checkOneOf } from '../shared/validate.ts';

const FIELD = 'config.universe';
const KEYS = Object.keys(UniverseRequest.shape);

/** The universe of a run with its defaults; no field without one. `candidates` are checked. Throws VAL004, VAL005. */
export function resolveUniverse(
  { universe, signals, robustness }: BacktestConfigRequest,
  timeframe: Timeframe,
  candidates: readonly string[],
): Pick<ResolvedBacktestConfig, 'universe'> {
  if (!universe) return {};
  const { n, lookback_days, rebalance, min_age_days, delisting_haircut } = universe;
  if (n === undefined) {
    throw new CodedError('VAL004', {
      message: `${FIELD}.n is required: the number of pairs at a time`,
      field: `${FIELD}.n`,
      context: { ...LIMITS.n },
    });
  }
  if (TIMEFRAME_MS[timeframe] > DAY_MS) {
    throw invalid(`ranks the volumes of days: it needs a timeframe of 1d or shorter, not ${timeframe}`);
  }
  if (signals !== undefined) throw invalid('excludes config.signals: a file of signals names its pairs');
  if (robustness?.random_entries) {
    throw invalid(
      'excludes config.robustness.random_entries, which would enter pairs while they are not in: remove one of them',
    );
  }
  checkQuotes(candidates, universe.candidates ? `${FIELD}.candidates` : 'config.pairs');
  return {
    universe: {
      rule: checkOneOf(universe.rule ?? UNIVERSE_RULES[0], `${FIELD}.rule`, UNIVERSE_RULES),
      n: checkNumber(n, `${FIELD}.n`, LIMITS.n),
      lookback_days: checkNumber(
        lookback_days ?? DEFAULTS.lookback_days,
        `${FIELD}.lookback_days`,
        LIMITS.lookback_days,
      ),
      rebalance: checkOneOf(rebalance ?? DEFAULTS.rebalance, `${FIELD}.rebalance`, REBALANCES),
      min_age_days: checkNumber(
        min_age_days ?? DEFAULTS.min_age_days,
        `${FIELD}.min_age_days`,
        LIMITS.min_age_days,
      ),
      delisting_haircut: checkNumber(
        delisting_haircut ?? DEFAULTS.delisting_haircut,
        `${FIELD}.delisting_haircut`,
        LIMITS.delisting_haircut,
      ),
      candidates: [...candidates],
    },
  };
}

export function universeWarnings(universe: BacktestConfigRequest['universe']): string[] {
  return unknownKeyWarnings(universe ?? {}, KEYS, `${FIELD}.`);
}

/**
 * The candidates of a universe without `config.pairs`: all stored pairs in the quote and settlement currency of `like`, ascending.
 * Throws VAL005 without any and for too many, DATA005.
 */
export async function storedCandidates(
  { series }: { readonly series: Pick<SeriesStore, 'list'> },
  market: { readonly exchange: string; readonly timeframe: Timeframe; readonly like: string },
): Promise<string[]> {
  const { exchange, timeframe, like } = market;
  const quote = quoteOf(like);
  const sources = ownTimeframes(timeframe);
  const stored = (await series.list(exchange))
    .filter(({ symbol, timeframe: own }) => quoteOf(symbol) === quote && sources.includes(own))
    .map(({ symbol }) => symbol);
  const pairs = [...new Set(stored)].sort();
  const { max } = LIMITS.candidates;
  if (pairs.length === 0) {
    throw new CodedError('VAL005', {
      message: `${FIELD} has no candidates: no ${timeframe} candles of pairs in ${quote} on ${exchange} are stored. Collect them, or name the candidates in config.pairs`,
      field: FIELD,
      context: { exchange, timeframe, quote },
    });
  }
  if (pairs.length > max) {
    throw new CodedError('VAL005', {
      message: `${FIELD} has ${pairs.length} candidates, the pairs in ${quote} that are stored on ${exchange}: name at most ${max} of them in config.pairs`,
      field: FIELD,
      context: { count: pairs.length, max },
    });
  }
  return pairs;
}

/** Throws VAL005 for candidates in several currencies: their volumes cannot be compared. */
function checkQuotes(pairs: readonly string[], field: string): void {
  const quotes = [...new Set(pairs.map(quoteOf))];
  if (quotes.length <= 1) return;
  throw new CodedError('VAL005', {
    message: `${field} must have one quote currency with ${FIELD}, not ${quotes.slice(0, 5).join(' and ')}: their volumes cannot be compared`,
    field,
    context: { quotes: quotes.slice(0, 5) },
  });
}

/** `USDT:USDT` of a perpetual, `USDT` of a spot pair. */
const quoteOf = (pair: string) => pair.slice(pair.indexOf('/') + 1);

function invalid(problem: string): CodedError {
  return new CodedError('VAL005', { message: `${FIELD} ${problem}`, field: FIELD, context: {} });
}
