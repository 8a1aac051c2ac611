import { MAX_INFORMATIVE_PAIRS } from '#contract/values/backtest-limits.ts';
import { MAX_SYMBOL_LENGTH } from '#contract/values/market-data-limits.ts';
import { SYMBOL } from '#contract/values/trading-modes.ts';
import { informativeKey, STAKE } from '../analysis/informative.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { divides, isTimeframe, TIMEFRAME_MS, type Timeframe } from '../timeframe.ts';

/** Problems of the series that a definition reads in addition, one sentence each that begins with the field. */
export function informativeProblems({
  timeframe,
  informativeTimeframes = [],
  informative = [],
}: Pick<StrategyDefinition, 'timeframe' | 'informativeTimeframes' | 'informative'>): string[] {
  const problems: string[] = [];
  const baseMs = TIMEFRAME_MS[timeframe] ?? 0;
  const declared: readonly Timeframe[] = Array.isArray(informativeTimeframes) ? informativeTimeframes : [];
  if (declared !== informativeTimeframes)
    problems.push('informativeTimeframes must be an array of timeframes');
  for (const each of declared) {
    if (!isTimeframe(String(each)) || TIMEFRAME_MS[each] <= baseMs) {
      problems.push(`informativeTimeframes: ${each} is not a timeframe longer than ${timeframe}`);
    } else if (!divides(timeframe, each)) {
      problems.push(`informativeTimeframes: ${each} is not a multiple of ${timeframe}`);
    }
  }
  if (!Array.isArray(informative) || informative.length > MAX_INFORMATIVE_PAIRS) {
    return [...problems, `informative must be an array of up to ${MAX_INFORMATIVE_PAIRS} elements`];
  }
  const keys = new Set<string>();
  for (const [index, each] of informative.entries()) {
    const problem = pairProblem(each, timeframe) ?? (keys.has(informativeKey(each)) && 'is there twice');
    if (problem) problems.push(`informative[${index}] ${problem}`);
    else keys.add(informativeKey(each));
  }
  return problems;
}

function pairProblem(value: unknown, base: Timeframe): string | undefined {
  if (typeof value !== 'object' || value === null) return 'must be an object with pair and timeframe';
  const { pair, timeframe, ...others } = value as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `has ${unknown}, which is not known; write pair and timeframe`;
  const symbol = String(pair).replace(STAKE, 'USDT:USDT');
  if (symbol.length > MAX_SYMBOL_LENGTH || !SYMBOL.test(symbol)) {
    return `has the pair ${pair}: write BASE/QUOTE:SETTLE, or BASE/${STAKE} for the currencies of the traded pair`;
  }
  const text = String(timeframe);
  if (!isTimeframe(text) || TIMEFRAME_MS[text] < (TIMEFRAME_MS[base] ?? 0)) {
    return `has the timeframe ${text}, which is not ${base} or longer`;
  }
  return TIMEFRAME_MS[base] && !divides(base, text)
    ? `has the timeframe ${text}, which is not a multiple of ${base}`
    : undefined;
}
