import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ReportPairData } from '#contract/report.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { candlesBetween, type PairHistory } from './pair-history.ts';

/** Shares beyond which data deserves a warning, percent. */
const FILLED_WARNING_PCT = 1;
const JUMP_WARNING_PCT = 10;
/** Perpetuals settle every 8 h at the latest: after a day without an event some are not known. */
const FUNDING_WARNING_MS = 24 * 3_600_000;

/** What a reader must know of a pair's candles, as sentences. */
export function dataWarnings(
  summary: ReportPairData,
  { start, end, stepMs, quality: { outsideRange } }: PairHistory,
): string[] {
  const { pair } = summary;
  const warnings: string[] = [];
  if (Date.parse(summary.first) > start) {
    warnings.push(
      `${pair} joins at ${summary.first}: its data does not reach back over the ${summary.startup_candles} startup candles before ${iso(start)}.`,
    );
  }
  if (Date.parse(summary.last) + stepMs < end) {
    warnings.push(
      `The data of ${pair} ends with the candle at ${summary.last}, before the end of the range.`,
    );
  }
  if (summary.filled_pct > FILLED_WARNING_PCT) {
    warnings.push(
      `${summary.filled_candles} candles of ${pair} (${summary.filled_pct.toFixed(2)} %) were missing and filled flat.`,
    );
  }
  if (summary.largest_jump_pct > JUMP_WARNING_PCT) {
    warnings.push(
      `The price of ${pair} jumps by ${summary.largest_jump_pct.toFixed(1)} % from a close to the next open.`,
    );
  }
  if (outsideRange > 0) {
    warnings.push(`${outsideRange} candles of ${pair} open or close outside their low to high.`);
  }
  return warnings;
}

/** Names the longest time without funding, where it is too long to be the exchange's. None for a run without funding. */
export function fundingWarnings({ pair, candles, funding }: PairInput, stepMs: number): string[] {
  if (!funding) return [];
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = funding.timestamp.filter((time) => time > first && time < end);
  const times = [first, ...known, end];
  let longest = 1;
  for (let i = 2, { length } = times; i < length; i++) {
    if (times[i]! - times[i - 1]! > times[longest]! - times[longest - 1]!) longest = i;
  }
  const [from, to] = [times[longest - 1]!, times[longest]!];
  if (to - from <= FUNDING_WARNING_MS) return [];
  return [
    `No funding rates of ${pair} are stored between ${iso(from)} and ${iso(to)}: none is paid or received there.`,
  ];
}

/** Of candles without detail the simulator assumes the path, as it does in a run that asks for none. */
export function detailWarnings(
  { pair, candles, detail }: PairInput,
  config: ResolvedBacktestConfig,
): string[] {
  if (!config.timeframe_detail) return [];
  const [stepMs, detailMs] = [TIMEFRAME_MS[config.timeframe], TIMEFRAME_MS[config.timeframe_detail]];
  const wanted = (candles.timestamp.length * stepMs) / detailMs;
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = detail ? candlesBetween(detail, first, end).timestamp.length : 0;
  const missingPct = (1 - known / wanted) * 100;
  if (missingPct <= FILLED_WARNING_PCT) return [];
  return [
    `${missingPct.toFixed(2)} % of the ${config.timeframe_detail} candles of ${pair} are missing: there its ${config.timeframe} candles are traded without detail.`,
  ];
}

const iso = (time: number) => new Date(time).toISOString();
