import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ChanceTest, ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { createRandom, mix32 } from '../random.ts';
import { type PairData, type PairHistory, readHistory } from '../run/history.ts';
import { cutRows, runStrategy, withSimulationErrors } from '../run/prepare-pair.ts';
import type { RunSettings } from '../run/simulation-settings.ts';
import { simulate } from '../simulator/simulate.ts';
import type { PairInput, Simulation } from '../simulator/types.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { BacktestError } from '../strategy-errors.ts';
import { permuteBars, permutedFunding } from './bar-permutation.ts';
import { intervalOf } from './bootstrap.ts';
import { measureCapacity } from './capacity.ts';
import { costSweep } from './cost-sweep.ts';
import { notPermutable } from './permuted-pairs.ts';
import { randomEntries } from './random-entries.ts';

export interface RequestedInput {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  /** Stored data of the pairs of the run. */
  readonly data: readonly PairData[];
  readonly pairs: readonly PairInput[];
  readonly settings: RunSettings;
  readonly run: Simulation;
}

type Requested = Pick<ReportRobustness, 'cost_sweep' | 'random_entries' | 'permutations' | 'capacity'>;

/**
 * The tests that the configuration asks for; yields between simulations.
 *
 * @param cost fee and slippage per side that the run paid, ratio
 */
export function* requestedTests(
  input: RequestedInput,
  cost: number,
  seed: number,
): Generator<void, Requested> {
  const { cost_sweep, random_entries, permutations, capacity } = input.config.robustness ?? {};
  return {
    ...(cost_sweep && { cost_sweep: { cells: yield* costSweep(input.pairs, input.settings) } }),
    ...(random_entries && {
      random_entries: yield* againstRandomEntries(input, cost, random_entries, mix32(seed ^ 1)),
    }),
    ...(permutations && { permutations: yield* againstPermutations(input, permutations, mix32(seed ^ 2)) }),
    ...(capacity && { capacity: yield* measureCapacity(input) }),
  };
}

function noTest(reason: string): ChanceTest {
  return { samples: 0, p_value: null, profit_pct: null, chance_pct: null, reason };
}

function* againstRandomEntries(
  { run, pairs, settings }: RequestedInput,
  cost: number,
  samples: number,
  seed: number,
): Generator<void, ChanceTest> {
  if (run.table.length === 0) return noTest('The run has no trades.');
  const account = { cost, wallet: settings.startingBalance };
  const test = yield* randomEntries(run.table, pairs, account, samples, createRandom(seed));
  return { ...test, reason: null };
}

function* againstPermutations(
  input: RequestedInput,
  samples: number,
  seed: number,
): Generator<void, ChanceTest> {
  const { config, strategy, settings, run } = input;
  const readsOthers = input.data.some(({ informative = [] }) => informative.length > 0);
  const reason = notPermutable(config, readsOthers);
  if (reason !== undefined) return noTest(reason);
  if (run.table.length === 0) return noTest('The run has no trades.');
  const histories = input.data.flatMap((data) => {
    const history = readHistory(strategy, config, data);
    return 'reason' in history ? [] : [history];
  });
  const random = createRandom(seed);
  const wallet = settings.startingBalance;
  const share = (balance: number) => (balance / wallet - 1) * 100;
  const profits = new Float64Array(samples);
  try {
    for (let i = 0; i < samples; i++) {
      profits[i] = share(yield* permutedBalance(input, histories, random));
      yield;
    }
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return noTest(`The strategy failed on permuted candles: ${error.message}`);
  }
  const profit_pct = share(run.finalBalance);
  const atLeast = profits.reduce((count, profit) => count + (profit >= profit_pct ? 1 : 0), 1);
  return {
    samples,
    p_value: atLeast / (samples + 1),
    profit_pct,
    chance_pct: intervalOf(profits),
    reason: null,
  };
}

/** Final balance of the strategy on one permutation of the candles. */
function* permutedBalance(
  { strategy, config, settings }: RequestedInput,
  histories: readonly PairHistory[],
  random: () => number,
): Generator<void, number> {
  const permuted = permuteBars(histories, histories[0]!.stepMs, random);
  const pairs: PairInput[] = [];
  for (const [index, history] of histories.entries()) {
    const candles = permuted[index]!;
    const { funding, ...data } = history.data;
    const own = {
      ...history,
      candles,
      data: { ...data, candles, ...(funding && { funding: permutedFunding(funding, candles) }) },
    };
    const steps = runStrategy(strategy, config, own);
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield;
    pairs.push(cutRows(strategy, own, step.value, history.from, candles.timestamp.length));
  }
  return withSimulationErrors(strategy, () => simulate(pairs, settings, { equity: false })).finalBalance;
}
