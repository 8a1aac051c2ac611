/**
 * Program of {@link checkStrategy}: loads a definition and certifies the strategy on the candles that it receives, or repeats the
 * truncated cuts of an earlier process.
 */

import { once } from 'node:events';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { spotPairs } from '#domain/config/resolve-trading-mode.ts';
import { informativeSeries, informativeStart } from '#engine/analysis/informative.ts';
import { orderOptions } from '#engine/definitions/account-options.ts';
import { createStrategyRegistry } from '#engine/definitions/registry.ts';
import { definitionProblems } from '#engine/definitions/validate-definition.ts';
import { certifyLookAhead, type Decided, repeatTruncated } from '#engine/look-ahead/certify.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import {
  firstDecision,
  historyFacts,
  historyStart,
  type PairData,
  startupCandles,
} from '#engine/run/history.ts';
import { startupOn } from '#engine/startup.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { freshStrategy } from '../strategies/fresh-strategy.ts';
import type { CheckMessage, CheckRequest, CheckStart, Repeated } from './strategy-check.ts';

const ROWS = 1_000;
const WINDOWS = 3;

const post = process.send!.bind(process);
const send = (message: CheckMessage) => post({ secret, message });
const received = async <T>() => (await once(process, 'message'))[0] as T;

const reporting = {
  pause: () => setImmediate(),
  onProgress: (share: number) => send({ kind: 'progress', share }),
};

process.once('disconnect', () => process.exit());
const { secret, request, repeated } = await received<CheckStart>();
try {
  await (repeated ? repeat(request, repeated) : check(request));
} catch (error) {
  send({ kind: 'failed', message: describe(error) });
}
// The command ends this process when it has read the message, which may be large.

async function check(request: CheckRequest): Promise<void> {
  const builtIn = builtInStrategies.find(({ name }) => name === request.builtIn);
  const source = builtIn ? { load: async () => builtIn } : freshStrategy(request.file!);
  const definition = await source.load();
  const problems = definition
    ? definitionProblems(definition)
    : ['it has no default export; write export default defineStrategy({...})'];
  if (problems.length > 0) return void send({ kind: 'problems', problems });
  const config = configOf(definition, request);
  const start = Date.parse(config.date_range.start);
  const { params, timeframe, ml_engine: ml } = config;
  const strategy = { facts: historyFacts(definition), startup: startupCandles(definition, params) };
  const others = config.pairs.flatMap((pair) => informativeSeries(strategy.facts, pair));
  const from = Math.min(
    historyStart(definition, params, timeframe, start, ml),
    ...others.map((each) =>
      informativeStart(firstDecision(config), startupOn(strategy.startup, each.timeframe), each.timeframe),
    ),
  );
  send({ kind: 'definition', config, strategy, from });
  const pairs = await received<PairData[]>();
  let decided: Decided | undefined;
  const certificate = await certifyLookAhead(
    { ...source, config, pairs },
    {
      seed: request.seed,
      cuts: request.cuts,
      ...reporting,
      onDecided: (all) => {
        decided = all;
      },
    },
  );
  send({ kind: 'certificate', certificate, decided });
}

async function repeat({ file }: CheckRequest, { config, pairs, decided }: Repeated): Promise<void> {
  const source = freshStrategy(file!);
  const findings = await repeatTruncated({ ...source, config, pairs }, decided, reporting);
  send({ kind: 'repeated', findings });
}

/** Defaults of the strategy on the requested candles. */
function configOf(definition: StrategyDefinition, request: CheckRequest): ResolvedBacktestConfig {
  const timeframe = request.timeframe ?? definition.timeframe;
  const { values, problems } = createStrategyRegistry([definition]).resolveParams(definition, request.params);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '));
  const ml = definition.mlEngine && mlEngineOf(definition);
  const stepMs = TIMEFRAME_MS[timeframe];
  const length = ml ? WINDOWS * ml.backtest_period_days * DAY_MS : ROWS * stepMs;
  const end = request.range?.end ?? floorToGrid(request.end, stepMs);
  const start = request.range?.start ?? end - length;
  const isSpot = request.tradingMode === 'spot';
  const pairs =
    request.pairs ?? chosenPairs(isSpot ? spotPairs(definition.pairs) : definition.pairs, request);
  const iso = (time: number) => new Date(time).toISOString();
  return {
    strategy: definition.name,
    exchange: request.exchange,
    ...(isSpot && { trading_mode: 'spot' as const }),
    pairs: [...pairs],
    timeframe,
    date_range: { start: iso(start), end: iso(end) },
    stake_amount: definition.stakeAmount,
    dry_run_wallet: definition.stakeAmount * 10 * pairs.length,
    max_open_trades: pairs.length,
    fee: BACKTEST_DEFAULTS.fee,
    slippage: BACKTEST_DEFAULTS.slippage,
    leverage: (isSpot ? undefined : definition.leverage) ?? BACKTEST_DEFAULTS.leverage,
    params: values,
    stoploss: definition.stoploss,
    minimal_roi: definition.minimalRoi ?? {},
    trailing: definition.trailing ?? null,
    ...(definition.protections && { protections: [...definition.protections] }),
    ...orderOptions(definition),
    timeframe_detail: null,
    fill_model: BACKTEST_DEFAULTS.fill_model,
    precision: 'none',
    seed: BACKTEST_DEFAULTS.seed,
    ...(ml && { ml_engine: ml }),
  };
}

/** Available pairs of the strategy, or any available pairs if it has none of them. */
function chosenPairs(own: readonly string[], { available, maxPairs }: CheckRequest): readonly string[] {
  const there = available ? own.filter((pair) => available.includes(pair)) : own;
  return (there.length > 0 ? there : available!).slice(0, maxPairs);
}

/** A syntax error has its position, `file:line`, only in the first line of the stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [place = ''] = error.stack?.split('\n') ?? [];
  return error.name === 'SyntaxError'
    ? `${error.message} (${place.replace(/\?run=\d+/, '')})`
    : error.message;
}
