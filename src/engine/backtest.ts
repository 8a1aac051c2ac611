import type { BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { EquityData } from '#contract/backtests/backtest-api.ts';
import type { BacktestReport } from '#contract/backtests/report.ts';
import type { ReportInformative } from '#contract/backtests/report-informative.ts';
import type { ReportModels } from '#contract/backtests/report-models.ts';
import type { ReportUniverse } from '#contract/backtests/report-universe.ts';
import type { Digest } from '#contract/values/digest.ts';
import type { SharedColumns } from './analysis/analyze.ts';
import { strategyOfRun } from './analysis/given-signals.ts';
import { type ObservedRun, RunObserver } from './look-ahead/observe.ts';
import { type ComputedMetrics, measureRun } from './metrics/metrics.ts';
import { buildModels } from './ml/model-report.ts';
import { describeAssumptions } from './report/assumptions.ts';
import { type CandleCurve, candleCurve } from './report/candle-curve.ts';
import { alternativeModel, compareFillModels } from './report/fill-models.ts';
import { buildReport } from './report/report.ts';
import { buildEquityData, buildResult, dataDigest, provenanceOf } from './report/result.ts';
import { reportSettings } from './report/settings.ts';
import { digestVolumes, reportUniverse } from './report/universe.ts';
import { digestBenchmark, type RunBenchmark } from './robustness/bitcoin.ts';
import { measureRobustness } from './robustness/robustness.ts';
import { type PairData, runStartupRows, startupCandles, trainingRows } from './run/history.ts';
import { type PreparedPair, preparePair, withSimulationErrors } from './run/prepare-pair.ts';
import type { RunReasons } from './run/run-reasons.ts';
import { type KnownSimulation, simulateKnown } from './run/simulate-known.ts';
import { type RunSettings, simulationSettings } from './run/simulation-settings.ts';
import { benchmarkWarnings } from './run/warnings.ts';
import { simulate } from './simulator/simulate.ts';
import type { SimulatedTrade, TradeTable } from './simulator/trade-table.ts';
import type { Simulation, SimulationSettings } from './simulator/types.ts';
import type { StrategyDefinition } from './strategy.ts';
import { BacktestError, reportActivity } from './strategy-errors.ts';
import type { UniversePlan } from './universe/plan.ts';

export interface BacktestInput {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  /** One element per pair of the configuration, in its order. */
  readonly pairs: readonly PairData[];
  /** Digest of the strategy's source. */
  readonly strategyDigest: string;
  /** Stored bitcoin for a run that does not trade it. */
  readonly benchmark?: RunBenchmark | undefined;
  /** The choice of `pairs`, and the pairs of the comparisons that are not among them; absent without a universe. */
  readonly universe?: { readonly plan: UniversePlan; readonly others: readonly PairData[] };
}

export interface BacktestOptions {
  readonly digest: Digest;
  /** Clock in ms, only for {@link BacktestTiming}: results do not depend on it. */
  readonly now?: () => number;
  /** Processor time of this process so far, ms. Default: `now`. */
  readonly processorMs?: (() => number) | undefined;
  /** Called with the share done, 0 to 1, ascending. */
  readonly onProgress?: (share: number) => void;
  /** Keep what a search for look-ahead bias compares with. Default false. */
  readonly observed?: boolean;
  /** Records why the trades did what they did; never together with `observed`. */
  readonly reasons?: RunReasons;
}

/** Duration of each phase by the injected clock, ms; zeros without one. */
interface BacktestTiming {
  /** Checks, digests, indicators and signals of all pairs. */
  readonly indicators_ms: number;
  /** Both simulations: the run, and the one under the other fill model. */
  readonly simulate_ms: number;
  /** Metrics, equity and report. */
  readonly report_ms: number;
  /** Part of `report_ms` for the robustness of the result, by processor time. */
  readonly robustness_ms: number;
  /** Part of `robustness_ms` for the tests that the configuration asks for: the rest counts against a share of the time. */
  readonly requested_ms: number;
}

/** Outcome of a run. Everything except `timing` is a pure function of the input, byte for byte. */
export interface BacktestOutcome {
  readonly result: BacktestResult;
  readonly equity: EquityData;
  readonly report: BacktestReport;
  /** The trades as columns, in the order of closing; see {@link tradeRecord} for their public shape. */
  readonly table: TradeTable;
  /** Built at each read. */
  readonly curve: CandleCurve;
  /** The trades as objects, built at the first read. */
  readonly trades: readonly SimulatedTrade[];
  readonly timing: BacktestTiming;
  /** Number of traded candles, over all pairs. */
  readonly candles: number;
  /** Only if it was asked for, and not for given signals: they are of no strategy. */
  readonly observed?: ObservedRun;
}

/** Progress at the end of each phase, by measured cost; training costs more than all other phases. */
const PHASES = { prepared: 0.4, simulated: 0.75, compared: 0.95 };
const PHASES_WITH_MODELS = { prepared: 0.9, simulated: 0.95, compared: 0.99 };

const phasesOf = ({ ml_engine }: ResolvedBacktestConfig) => (ml_engine ? PHASES_WITH_MODELS : PHASES);

/**
 * Runs a backtest: prepares every pair, simulates, measures and reports.
 *
 * @throws BacktestError `insufficient_data` when no pair can be traded, `invalid_candles`, `strategy`
 */
export function runBacktest(input: BacktestInput, options: BacktestOptions): BacktestOutcome {
  const steps = backtestSteps(input, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * {@link runBacktest} with a pause after every pair and every phase. The host can do other work in it, such as sending the
 * reported progress. A pause that throws ends the run.
 */
export async function runBacktestPausing(
  input: BacktestInput,
  options: BacktestOptions,
  pause: () => Promise<void>,
): Promise<BacktestOutcome> {
  const steps = backtestSteps(input, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}

function* backtestSteps(given: BacktestInput, options: BacktestOptions): Generator<void, BacktestOutcome> {
  const input = { ...given, strategy: strategyOfRun(given.strategy, given.pairs) };
  const now = options.now ?? (() => 0);
  const progress = options.onProgress ?? (() => undefined);
  const started = now();
  const { strategy, config } = input;
  const observer =
    options.observed && config.signals === undefined
      ? new RunObserver(strategy, config, input.strategyDigest)
      : undefined;
  const { prepared: analyzed, warnings } = yield* preparePairs(input, options, progress, observer);
  const preparedAt = now();
  const settings = simulationSettings(strategy, config);
  const callbacks = strategy.callbacks && (observer ?? options.reasons)?.recording(strategy.callbacks);
  const recorded = callbacks ? simulationSettings({ ...strategy, callbacks }, config) : settings;
  const { run, other, pairs, failure } = withSimulationErrors(strategy, () =>
    simulateBoth(analyzed, { recorded, settings, reasons: options.reasons }, config, progress, () => {
      observer?.restart();
      options.reasons?.clear();
    }),
  );
  const prepared = analyzed.map((pair, index) => ({ ...pair, input: pairs[index]! }));
  const simulatedAt = now();
  yield;
  reportActivity('the report', input.config.pairs);
  const simulated = { settings, prepared, run, other, warnings };
  const { robustness_ms, requested_ms, ...documents } = yield* describe(input, options, simulated);
  progress(1);
  return {
    ...documents,
    table: run.table,
    get curve() {
      return candleCurve(run.curve!, pairs, settings.startingBalance, settings.timeframeMs);
    },
    get trades() {
      return run.trades;
    },
    timing: {
      indicators_ms: preparedAt - started,
      simulate_ms: simulatedAt - preparedAt,
      report_ms: now() - simulatedAt,
      robustness_ms,
      requested_ms,
    },
    candles: prepared.reduce((count, pair) => count + pair.summary.candles, 0),
    ...(observer && { observed: observer.observed(run.table, failure) }),
  };
}

function* preparePairs(
  input: BacktestInput,
  { digest, reasons }: BacktestOptions,
  progress: (share: number) => void,
  observer: RunObserver | undefined,
): Generator<void, { prepared: PreparedPair[]; warnings: string[] }> {
  const prepared: PreparedPair[] = [];
  const skipped: string[] = [];
  const shared: SharedColumns = new Map();
  for (const [index, data] of input.pairs.entries()) {
    const done = (share: number) =>
      progress(((index + share) / input.pairs.length) * phasesOf(input.config).prepared);
    const steps = preparePair(input.strategy, input.config, data, digest, shared);
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      done(step.value);
      yield;
    }
    if ('reason' in step.value) skipped.push(step.value.reason);
    else {
      const { history, analysis, ...pair } = step.value;
      observer?.keep(history, analysis);
      reasons?.onAnalyzed(history, analysis);
      prepared.push(pair);
    }
    done(1);
    yield;
  }
  if (prepared.length === 0) {
    throw new BacktestError('insufficient_data', skipped.join(' ') || 'No pair was given.');
  }
  const warnings = [
    ...skipped.map((reason) => `Pair excluded: ${reason}`),
    ...new Set(prepared.flatMap((pair) => pair.warnings)),
  ];
  return { prepared, warnings };
}

interface Runs extends Pick<KnownSimulation, 'pairs' | 'failure'> {
  readonly run: Simulation;
  /** Under the other fill model, trades only; the run itself if it does not depend on the model. */
  readonly other: Simulation;
}

/** @param settings those of the run, whose callbacks may be recorded, and those of the comparison */
function simulateBoth(
  prepared: readonly PreparedPair[],
  {
    recorded,
    settings,
    reasons,
  }: {
    readonly recorded: SimulationSettings;
    readonly settings: SimulationSettings;
    readonly reasons: RunReasons | undefined;
  },
  config: ResolvedBacktestConfig,
  progress: (share: number) => void,
  restart: () => void,
): Runs {
  const phases = phasesOf(config);
  const within = (from: number, to: number) => (share: number) => {
    progress(from + (to - from) * share);
    return undefined;
  };
  const {
    simulation: run,
    pairs,
    failure,
  } = simulateKnown(
    prepared.map((pair) => pair.input),
    recorded,
    { onProgress: within(phases.prepared, phases.simulated), paths: reasons?.paths },
    restart,
  );
  if (!run.dependsOnFillModel) return { run, other: run, pairs, failure };
  const other = simulate(
    pairs,
    { ...settings, fillModel: alternativeModel(settings.fillModel) },
    { equity: false, onProgress: within(phases.simulated, phases.compared) },
  );
  return { run, other, pairs, failure };
}

/** What a report describes. */
interface SimulatedRun extends Pick<Runs, 'run' | 'other'> {
  readonly settings: RunSettings;
  readonly prepared: readonly PreparedPair[];
  /** Of the preparation. */
  readonly warnings: readonly string[];
}

function* describe(
  input: BacktestInput,
  { digest, now = () => 0, processorMs = now }: BacktestOptions,
  simulated: SimulatedRun,
) {
  const { settings, prepared, run, other, warnings } = simulated;
  const { strategy, config } = input;
  const data = prepared.map((pair) => pair.summary);
  const pairs = prepared.map((pair) => pair.input);
  const wallet = config.dry_run_wallet;
  const echoed = reportSettings(config, settings, startupOf(input), data);
  const computed = measureRun(config, data, run);
  const { benchmark } = input;
  const { volumes, provenance, chanceInputs } = digestsOf(input, data, digest);
  const { robustness, ...robustnessTiming } = yield* timedRobustness(
    {
      strategy,
      config,
      settings,
      run,
      computed,
      data: input.pairs,
      benchmark,
      pairs,
      inputs: chanceInputs,
    },
    processorMs,
  );
  const isCompared = robustness.benchmarks.some(({ source }) => source !== undefined);
  const missing = benchmark && isCompared && !('reason' in benchmark) ? benchmarkWarnings(benchmark) : [];
  const universe = volumes && (yield* describeUniverse(input, digest, volumes, simulated, computed));
  const report = buildReport({
    strategy,
    config,
    settings: echoed,
    simulation: run,
    curve: run.curve!,
    pairs,
    computed,
    fillModel: compareFillModels(config.fill_model, run, other, wallet),
    assumptions: describeAssumptions({ settings, run, other, pairs, wallet }),
    data,
    informative: reportInformative(prepared),
    models: modelsOf(config, prepared),
    robustness,
    universe,
    warnings: [...warnings, ...missing],
    provenance,
  });
  return {
    result: buildResult(computed.metrics, computed.trades),
    equity: buildEquityData(wallet, computed.daily),
    report,
    ...robustnessTiming,
  };
}

/** Startup candles as the report shows them: a number for all timeframes, or that of each named one. */
function startupOf({ strategy, config, pairs }: BacktestInput) {
  const declared = startupCandles(strategy, config.params);
  return typeof declared === 'number'
    ? runStartupRows(strategy, config, pairs) + trainingRows(config.timeframe, config.ml_engine)
    : declared.named;
}

/** The robustness of a run, with its processor time. */
function* timedRobustness(input: Parameters<typeof measureRobustness>[0], processorMs: () => number) {
  const begun = processorMs();
  let requested = begun;
  const robustness = yield* measureRobustness(input, () => {
    requested = processorMs();
  });
  const measured = processorMs();
  return { robustness, robustness_ms: measured - begun, requested_ms: measured - requested };
}

/** Digests of all that a run depends on. `chanceInputs` seeds its tests by chance; `volumes` is undefined without a universe. */
function digestsOf(input: BacktestInput, data: readonly { readonly digest: string }[], digest: Digest) {
  const { benchmark, universe } = input;
  const volumes = universe && { digest: digestVolumes(universe.plan.candidates, digest) };
  const chosen = volumes ? [...data, volumes] : data;
  const compared = benchmark ? [{ digest: digestBenchmark(benchmark, digest) }] : [];
  const provenance = provenanceOf(input, [...chosen, ...compared], digest);
  const { config_digest, strategy_digest } = provenance;
  // Chance does not depend on the benchmark: importing bitcoin changes what is compared with it only.
  const pairs_digest = benchmark ? dataDigest(chosen, digest) : provenance.data_digest;
  // Not the version of the engine: a release that changes only texts keeps the numbers.
  return { volumes, provenance, chanceInputs: [config_digest, strategy_digest, pairs_digest].join() };
}

/** Prepares the other pairs of the comparisons, which no result has, and simulates these. */
function* describeUniverse(
  { strategy, config, universe }: BacktestInput,
  digest: Digest,
  volumes: { readonly digest: string },
  { settings, prepared, run: { table } }: SimulatedRun,
  { metrics }: ComputedMetrics,
): Generator<void, ReportUniverse> {
  const inputs = new Map(prepared.map(({ input }) => [input.pair, input]));
  const shared: SharedColumns = new Map();
  for (const data of universe!.others) {
    const steps = preparePair(strategy, config, data, digest, shared);
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield;
    if ('input' in step.value) inputs.set(data.pair, step.value.input);
  }
  const { plan } = universe!;
  const all = plan.candidates.flatMap(({ pair }) => inputs.get(pair) ?? []);
  const steps = reportUniverse({ plan, config, settings, metrics, table, inputs: all, ...volumes });
  for (;;) {
    const step = withSimulationErrors(strategy, () => steps.next());
    if (step.done) return step.value;
    yield;
  }
}

/** Each informative series of the run once, with the pairs that read it. Undefined without any. */
function reportInformative(prepared: readonly PreparedPair[]): ReportInformative[] | undefined {
  const series = new Map<string, ReportInformative>();
  for (const { input, informative } of prepared) {
    for (const each of informative) {
      const key = `${each.pair} ${each.timeframe} ${each.digest}`;
      const known = series.get(key);
      series.set(key, { ...each, read_by: [...new Set([...(known?.read_by ?? []), input.pair])] });
    }
  }
  return series.size > 0 ? [...series.values()] : undefined;
}

/** Undefined in a run without the ML engine. */
function modelsOf(
  config: ResolvedBacktestConfig,
  prepared: readonly PreparedPair[],
): ReportModels | undefined {
  const pairs = prepared.flatMap(({ models }) => (models ? [models] : []));
  return pairs.length > 0 ? buildModels(config, pairs) : undefined;
}
