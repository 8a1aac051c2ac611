import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { COPY_PREFIX } from '#adapters/local/data-folder.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { LocalEnv } from '#contract/env/env.ts';
import type { CiSettings } from '#contract/platform/ci-settings.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { CLI_LIMITS } from '#contract/values/request-limits.ts';
import { describeCertificate, isPutToTest, sentences } from '#domain/inputs/search-look-ahead.ts';
import { checkPolicy, isSet } from '#domain/transitions/release-policy.ts';
import { isTimeframe, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { readEnv } from '#runtime/env.ts';
import { checkOnCandles } from '../../../src/local/certify-strategy.ts';
import { UsageError } from '../options.ts';
import { progressBar } from '../output.ts';
import { PROJECT_FILE, projectFolder } from '../strategy/project.ts';
import { strategiesFolder } from '../strategy/strategy-file.ts';
import { copyCandles, type RunOutcome, runBacktests } from './backtests.ts';
import {
  type Base,
  exportFolder,
  findBase,
  openRepository,
  type Repository,
  readFileAt,
  renamesSince,
} from './base.ts';
import {
  type Change,
  changesBetween,
  nameOf,
  newlyBroken,
  readStrategies,
  type StrategyFolder,
} from './changes.ts';
import { compareRuns, type Run, type RunComparison } from './compare-runs.ts';
import { ciOf, ciSettings, readText } from './settings.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** `certified`, or why it is not. */
interface Certificate {
  readonly state: 'certified' | 'look_ahead' | 'not_checked' | 'failed';
  readonly message: string;
  readonly findings: readonly string[];
}

export interface StrategyReport {
  readonly change: Change;
  /** Null: the strategy was deleted, or nothing of it changed. */
  readonly certificate: Certificate | null;
  readonly head: Run | null;
  readonly base: Run | null;
  readonly comparison: RunComparison | null;
  /** Guardrails of the settings. */
  readonly checks: readonly ValidationCheck[];
  /** Each fails the command. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

export interface CiReport {
  /** Strategy folder, relative to the repository. */
  readonly folder: string;
  readonly base: Base | null;
  readonly head: string | null;
  readonly settings: CiSettings;
  /** `ci` of the settings file in the base; undefined when it is the same. */
  readonly formerSettings: { readonly value: unknown } | undefined;
  /** Strategies that changed; with changed settings all of them. */
  readonly strategies: readonly StrategyReport[];
  /** Number of other strategies. */
  readonly unchanged: number;
  /** Files that the change made unusable, with the reason. */
  readonly broken: readonly { readonly file: string; readonly error: string }[];
  readonly failed: boolean;
}

/** Fixed, so that equal strategies have equal results at any time. */
const SIMULATED_CANDLES = {
  exchange: SIMULATED,
  date_range: { start: '2024-07-01T00:00:00Z', end: '2025-01-01T00:00:00Z' },
};
/** Length of the certificate on stored candles, as on simulated ones. */
const CERTIFIED_CANDLES = 1_000;
const MAX_CERTIFIED_PAIRS = 3;

/** Certifies each strategy that differs from the base, and compares its backtest with the one of the base. */
export async function checkChanges(baseName: string | undefined): Promise<CiReport> {
  const env = readEnv(LocalEnv);
  const folder = existingFolder(strategiesFolder());
  const file = join(projectFolder(folder), PROJECT_FILE);
  const repository = openRepository(projectFolder(folder));
  const base = findBase(repository, baseName);
  const written = ciOf(readText(file), file);
  const settings = ciSettings(written, file);
  const former = base ? ciOfBase(repository, base, file) : written;
  const isSame = JSON.stringify(former) === JSON.stringify(written);
  const found = {
    base,
    head: repository.head,
    settings,
    folder: relative(repository.root, folder),
    formerSettings: isSame ? undefined : { value: former },
  };
  return inTemporaryFolder(join(tmpdir(), 'touchstone-ci-'), async (work) => {
    const before = base && (await readBase(repository, base, folder, join(work, 'strategies')));
    const after = await readStrategies(folder);
    const renames = base ? renamesSince(repository, base.commit, folder) : new Map<string, string>();
    const changes = changesBetween(before, after, renames);
    const broken = newlyBroken(before, after).map(({ file: name, error }) => ({ file: name, error }));
    const affected = changes.filter(({ kind }) => kind !== 'unchanged' || !isSame);
    const strategies = await reportOn({ env, settings, work, before, after }, affected);
    return {
      ...found,
      strategies,
      broken,
      unchanged: changes.length - affected.length,
      failed: broken.length > 0 || strategies.some(({ failures }) => failures.length > 0),
    };
  });
}

/** Git names files by their paths without links. */
function existingFolder(folder: string): string {
  if (existsSync(folder)) return realpathSync(folder);
  throw new UsageError(
    `The strategy folder ${folder} does not exist. Make one with touchstone init, or set STRATEGIES_DIRECTORY.`,
  );
}

/** Undefined for a file that was not JSON. */
function ciOfBase(repository: Repository, { commit }: Base, file: string): unknown {
  try {
    return ciOf(readFileAt(repository, commit, file), file);
  } catch {
    return undefined;
  }
}

function readBase(
  repository: Repository,
  { commit }: Base,
  folder: string,
  target: string,
): Promise<StrategyFolder> {
  exportFolder(repository, commit, folder, target);
  return readStrategies(target);
}

interface Inputs {
  readonly env: LocalEnv;
  readonly settings: CiSettings;
  /** Temporary folder. */
  readonly work: string;
  readonly before: StrategyFolder | null;
  readonly after: StrategyFolder;
}

const isSourceChanged = ({ head, base }: Change) => head !== null && head.digest !== base?.digest;

async function reportOn(inputs: Inputs, changes: readonly Change[]): Promise<StrategyReport[]> {
  // A renamed file with the same source has the same result.
  const runs = changes.filter(
    (change) => change.head && (isSourceChanged(change) || change.kind === 'unchanged'),
  );
  if (runs.length === 0) return changes.map((change) => notRun(change));
  const { env, settings, work } = inputs;
  const { exchange = SIMULATED } = settings.config ?? {};
  if (exchange === SIMULATED) return runAll(inputs, changes, runs, join(work, 'data'));
  // Links to candles need the same file system.
  return inTemporaryFolder(join(homeFor(env), `${COPY_PREFIX}${process.pid}-`), async (folder) => {
    const home = join(folder, 'data');
    await copyCandles(env.TOUCHSTONE_HOME, home);
    return runAll(inputs, changes, runs, home);
  });
}

type RunConfig = Readonly<Record<string, unknown>>;
type ConfigOf = (change: Change) => RunConfig;

/** Runs the backtests and certificates of `runs` on a data folder. */
async function runAll(
  inputs: Inputs,
  changes: readonly Change[],
  runs: readonly Change[],
  home: string,
): Promise<StrategyReport[]> {
  const { env, settings, before, after } = inputs;
  const compared = runs.filter((change) => change.base && isSourceChanged(change));
  const config = { ...SIMULATED_CANDLES, ...settings.config };
  const isSimulated = config.exchange === SIMULATED;
  const bar = progressBar('{bar} {value} of {total} certificates and backtests');
  bar.start(2 * runs.length + compared.length, 0);
  const onEnd = () => bar.increment();
  try {
    const common = { ...config, ...(!isSimulated && { collect: 'never' }) };
    const dated = isSimulated || settings.config?.date_range ? common : withoutDates(common);
    const backtests = async (strategies: string, of: readonly Change[], configOf: ConfigOf) => {
      const outcomes = await runBacktests(env, { home, strategies }, of.map(configOf), onEnd);
      return new Map(of.map((change, index) => [change, outcomes[index]!]));
    };
    const heads = await backtests(after.path, runs, (change) => ({ ...dated, strategy: nameOf(change) }));
    const bases =
      before && compared.length > 0
        ? await backtests(before.path, compared, (change) => baseConfig(change, heads.get(change)!, dated))
        : new Map<Change, RunOutcome>();
    const reports: StrategyReport[] = [];
    for (const change of changes) {
      const head = heads.get(change);
      if (!head) {
        reports.push(notRun(change));
        continue;
      }
      const certificate = await certify(inputs, home, change, head);
      onEnd();
      reports.push(reportOf(settings, change, { head, base: bases.get(change), certificate }));
    }
    return reports;
  } finally {
    bar.stop();
  }
}

/** The data folder, which is created when absent. */
function homeFor({ TOUCHSTONE_HOME }: LocalEnv): string {
  mkdirSync(TOUCHSTONE_HOME, { recursive: true });
  return TOUCHSTONE_HOME;
}

function withoutDates({ date_range: _, ...config }: Readonly<Record<string, unknown>>) {
  return config;
}

/** The base runs on the dates that the head has used. */
function baseConfig({ base }: Change, head: RunOutcome, config: RunConfig): RunConfig {
  const dates = 'error' in head ? {} : { date_range: head.results.job.config.date_range };
  return { ...config, ...dates, strategy: base!.name };
}

function notRun(change: Change): StrategyReport {
  return {
    change,
    certificate: null,
    head: null,
    base: null,
    comparison: null,
    checks: [],
    failures: [],
    warnings: [],
  };
}

/** Certificate on simulated candles as `touchstone check` gives it, or on the last stored candles of the backtest. */
async function certify(
  { settings, after }: Inputs,
  home: string,
  { head }: Change,
  run: RunOutcome,
): Promise<Certificate> {
  const { exchange = SIMULATED, trading_mode: tradingMode } = settings.config ?? {};
  const stored = exchange === SIMULATED ? undefined : storedRange(run);
  if (exchange !== SIMULATED && !stored) {
    return { state: 'failed', message: 'There are no candles: the backtest failed', findings: [] };
  }
  try {
    const outcome = await checkOnCandles(
      {
        file: join(after.path, head!.file),
        builtIn: null,
        exchange,
        tradingMode,
        home,
        params: {},
        pairs: stored?.pairs,
        range: stored?.range,
        timeframe: undefined,
        cuts: CLI_LIMITS.cuts.default,
        seed: CLI_LIMITS.check_seed.default,
      },
      { compiled: compileCache() },
    );
    if ('problems' in outcome) return { state: 'failed', message: outcome.problems.join('; '), findings: [] };
    const { certificate } = outcome;
    const message = describeCertificate(certificate);
    const findings = sentences(certificate.findings);
    if (findings.length > 0) return { state: 'look_ahead', message, findings };
    return { state: isPutToTest(certificate) ? 'certified' : 'not_checked', message, findings };
  } catch (error) {
    return { state: 'failed', message: (error as Error).message, findings: [] };
  }
}

function storedRange(run: RunOutcome) {
  if ('error' in run) return undefined;
  const { pairs, timeframe, date_range, ml_engine } = run.results.job.config;
  const [start, end] = [Date.parse(date_range.start), Date.parse(date_range.end)];
  const last = isTimeframe(timeframe) ? end - CERTIFIED_CANDLES * TIMEFRAME_MS[timeframe] : start;
  // Models need all candles, as they are trained on earlier ones.
  return {
    pairs: pairs.slice(0, MAX_CERTIFIED_PAIRS),
    range: { start: ml_engine ? start : Math.max(start, last), end },
  };
}

interface Outcomes {
  readonly head: RunOutcome;
  readonly base: RunOutcome | undefined;
  readonly certificate: Certificate;
}

function reportOf(
  settings: CiSettings,
  change: Change,
  { head, base, certificate }: Outcomes,
): StrategyReport {
  const failures = [...certificateFailures(certificate)];
  const warnings: string[] = [];
  const common = { change, certificate };
  const none = { base: null, comparison: null, checks: [] };
  if ('error' in head) {
    return { ...common, ...none, head: null, failures: [...failures, `Backtest ${head.error}`], warnings };
  }
  const { job } = head.results;
  warnings.push(...job.warnings);
  if (job.look_ahead?.findings.length && certificate.findings.length === 0) {
    failures.push(`Look-ahead bias in the backtest: ${job.look_ahead.findings[0]}`);
  }
  const checks = guardrailsOf(settings, head);
  failures.push(
    ...checks.filter(({ status }) => status === 'failed').map(({ message }) => `Guardrail: ${message}`),
  );
  if (base && 'error' in base) warnings.push(`The base could not be run: ${base.error}`);
  if (!base || 'error' in base) return { ...common, ...none, head, checks, failures, warnings };
  const comparison = compareRuns(base, head);
  const worse = comparison.isSameResult
    ? []
    : comparison.guardrails
        .filter(({ status }) => status === 'broken')
        .map(({ message }) => `Compared with the base, ${message}`);
  (settings.failOnWorse ? failures : warnings).push(...worse);
  if (comparison.candles === 'different') {
    warnings.push('Base and head read different candles, so their metrics cannot be compared');
  }
  return { ...common, head, base, comparison, checks, failures, warnings };
}

function certificateFailures({ state, message, findings }: Certificate): string[] {
  switch (state) {
    case 'certified':
      return [];
    case 'look_ahead':
      return findings.map((finding) => `Look-ahead bias: ${finding}`);
    case 'not_checked':
      return [`No certificate: no entry signal in the candles (${message})`];
    case 'failed':
      return [`No certificate: ${message}`];
  }
}

/** Checks of the guardrails in the settings; empty without any. */
function guardrailsOf({ guardrails }: CiSettings, { results: { job, report } }: Run): ValidationCheck[] {
  const policy = { ...guardrails, lookAheadCertificate: false };
  if (!isSet(policy)) return [];
  const [from, to] = [report.data.map(({ first }) => first), report.data.map(({ last }) => last)];
  const evidence = {
    from: from.sort()[0]!,
    to: to.sort()[0]!,
    hyperopt_job_id: null,
    deflated_sharpe_ratio: null,
  };
  const now = Date.now();
  return checkPolicy(
    policy,
    {
      metrics: job.result!,
      config: job.config,
      trials: 1,
      evidence,
      created_at: new Date(now).toISOString(),
    },
    now,
  );
}
