import { randomUUID } from 'node:crypto';
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSource } from '#adapters/strategies/source-formats.ts';
import { digestStrategyFiles } from '#adapters/strategies/strategy-files.ts';
import { lowestDeflation } from '#contract/values/deflated-ratio.ts';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { ApiError } from '../client.ts';
import { given, UsageError } from '../options.ts';
import { duration, escapeControlChars, statusWithError, table } from '../output.ts';
import { type Comparison, changeText, compareResults, valueTexts } from '../reports/comparison.ts';
import { backtestPath, type Job, loadResults, type Results } from '../reports/load-results.ts';
import { candlesText, deflatedText } from '../reports/report-text.ts';
import { configWith, type RunOptions } from '../run-options.ts';
import { type Session, sourceText } from '../session.ts';
import { findStrategyFile, nameDefinedIn, strategiesFolder } from './strategy-file.ts';

export interface DevOptions extends RunOptions {
  readonly experiment?: string;
  readonly json?: boolean;
}

/** Pause between two reads of a job: shorter than a run, which takes 0.3 s. */
const POLL_MS = 20;
/** Editors write a file in several steps. */
const SETTLE_MS = 40;

/** Saves of files in a folder: `next` resolves with the time of the first one since the last call. */
class Saves {
  #waiting: ((at: number) => void) | undefined;
  #since: number | undefined;
  readonly #watchers: readonly FSWatcher[];

  constructor(folder: string) {
    const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
    const folders = inside
      .filter((each) => each.isDirectory())
      .map((each) => join(each.parentPath, each.name));
    // One for each folder: Node's recursive watcher on Linux loses a file that an editor replaces.
    this.#watchers = [folder, ...folders].map((each) => watch(each, (_, name) => this.#changed(name)));
  }

  #changed(name: string | null): void {
    if (!name || !isSource(name)) return;
    this.#since ??= performance.now();
    this.#waiting?.(this.#since);
  }

  async next(signal: AbortSignal): Promise<number | undefined> {
    const at = this.#since ?? (await this.#first(signal));
    await sleep(SETTLE_MS);
    this.#since = undefined;
    return signal.aborted ? undefined : at;
  }

  #first(signal: AbortSignal): Promise<number | undefined> {
    return new Promise((resolve) => {
      // During a run.
      if (signal.aborted) resolve(undefined);
      this.#waiting = resolve;
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** Runs a strategy now and after each save of its folder, until Ctrl-C. */
export async function develop(session: Session, strategy: string, options: DevOptions): Promise<void> {
  const folder = strategiesFolder();
  const name = await nameOf(strategy, folder);
  const left = new AbortController();
  const leave = () => left.abort();
  for (const event of ['SIGINT', 'SIGTERM'] as const) process.once(event, leave);
  const saves = new Saves(folder);
  const runs = new Runs(session, name, options);
  try {
    if (!options.json)
      console.log(escapeControlChars(`Watching ${folder} for changes of ${name}; Ctrl-C ends`));
    let saved: number | undefined;
    let source = '';
    do {
      // An editor may write a file twice.
      const now = await sourceOf(folder);
      if (now !== source) await runs.run(saved);
      source = now;
      saved = await saves.next(left.signal);
    } while (saved !== undefined);
    if (!options.json) console.log(`\n${runs.summary()}`);
  } finally {
    saves.close();
    for (const event of ['SIGINT', 'SIGTERM'] as const) process.off(event, leave);
  }
}

/** Digests of the files in the folder. */
async function sourceOf(folder: string): Promise<string> {
  return JSON.stringify([...(await digestStrategyFiles(folder))]);
}

/** Name of a strategy that is edited. */
async function nameOf(strategy: string, folder: string): Promise<string> {
  if (builtInStrategies.some(({ name }) => name === strategy)) {
    throw new UsageError(
      `${strategy} is built in: its file is not watched. Copy it: touchstone new <name> makes a strategy of your own.`,
    );
  }
  const file = await findStrategyFile(strategy, folder);
  if (resolve(dirname(file)) !== resolve(folder)) {
    throw new UsageError(`${file} is not in ${folder}, so the platform cannot run it. Move it there.`);
  }
  return nameDefinedIn(file);
}

/** The runs of one session on the same candles. */
class Runs {
  readonly #session: Session;
  readonly #strategy: string;
  readonly #options: DevOptions;
  /** Dates of the first run, which all others have. */
  #pinned: Readonly<Record<string, unknown>> = {};
  #last: Results | undefined;
  /** Trials of this run of the command. An equal run is not another trial. */
  #trials = 0;

  constructor(session: Session, strategy: string, options: DevOptions) {
    this.#session = session;
    this.#strategy = strategy;
    this.#options = options;
    session.client.trialSession ??= `dev-${randomUUID()}`;
  }

  /** @param saved time of the save, ms of `performance.now()`; undefined for the first run */
  async run(saved: number | undefined): Promise<void> {
    const started = saved ?? performance.now();
    try {
      const job = await this.#submit();
      if (job.status !== 'completed') return this.#failed(`${job.job_id} ${statusWithError(job)}`);
      const results = await loadResults(this.#session.client, job);
      const before = this.#last;
      this.#last = results;
      const { exchange, date_range } = job.config;
      this.#pinned = { exchange, date_range, collect: 'never' };
      this.#trials = Math.max(this.#trials, job.trials?.session ?? 0);
      this.#print(results, before, performance.now() - started);
    } catch (error) {
      // A strategy that cannot be loaded: the next save may correct it.
      if (!(error instanceof ApiError)) throw error;
      this.#failed(error.message);
    }
  }

  async #submit(): Promise<Job> {
    const { client } = this.#session;
    const config = { ...configWith(this.#pinned, this.#options), strategy: this.#strategy };
    const body = given({ config, experiment_name: this.#options.experiment });
    const { job_id } = await client.post<{ job_id: string }>('/api/v1/backtests', body);
    for (;;) {
      const job = await client.get<Job>(backtestPath(job_id));
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await sleep(POLL_MS);
    }
  }

  #failed(message: string): void {
    if (this.#options.json) console.log(JSON.stringify({ error: message, trials: this.#trials }));
    else console.log(`\n${message}`);
  }

  #print(results: Results, before: Results | undefined, ms: number): void {
    const { job, report } = results;
    const compared = before && compareResults(before, results);
    if (this.#options.json) {
      const { job_id } = job;
      const { digest } = report.provenance;
      const line = { job_id, digest, ms: Math.round(ms), trials: this.#trials, metrics: report.metrics };
      console.log(JSON.stringify({ ...line, changes: compared ?? null }));
      return;
    }
    if (!before) {
      console.log(candlesText(job));
      console.log(`Source: ${sourceText(this.#session)}`);
    }
    console.log(`\n${job.job_id}: ${duration(ms)} ${before ? 'after the save' : 'for the first run'}`);
    for (const warning of foldWarnings(job.warnings)) console.log(`Warning: ${warning}`);
    console.log(developTable(compared ?? compareResults(results, results), before !== undefined));
    console.log(this.#trialText(results));
  }

  /** Selection bias: trials of this run of the command, and of the user. */
  #trialText({ job: { trials } }: Results): string {
    if (!trials) return '';
    const { session, owner } = trials;
    const all = owner === session ? '' : `, ${owner} of yours on overlapping assets and dates`;
    return `Trial ${session} of this session${all}: deflated Sharpe ratio ${deflatedText(lowestDeflation(trials))}`;
  }

  summary(): string {
    const last = this.#last ? `. The last run: ${TOUCHSTONE} show ${this.#last.job.job_id}` : '';
    return `${formatCount(this.#trials, 'trial')} of this session${last}`;
  }
}

/** Metrics of a run, with those of the last save. */
function developTable({ metrics, settings, inputs, look_ahead }: Comparison, hasBefore: boolean): string {
  const rows = metrics.filter(({ name }) => name !== 'market_change_pct');
  if (!hasBefore) {
    return table(
      ['Metric', 'Now'],
      rows.map((row) => [row.label, valueTexts(row, look_ahead)[1]]),
    );
  }
  const unchanged = settings.length === 0 && inputs.length === 0;
  return [
    ...(unchanged ? ['Same source and settings as before: same result'] : []),
    ...settings.map(({ name, a, b }) => `${name}: ${JSON.stringify(a)} before, ${JSON.stringify(b)} now`),
    table(
      ['Metric', 'Last save', 'Now', 'Change'],
      rows.map((row) => [row.label, ...valueTexts(row, look_ahead), changeText(row)]),
    ),
  ].join('\n');
}
