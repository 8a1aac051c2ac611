import type { JobRun } from '#contract/backtests/backtest.ts';
import { ImageRunInput, type ImageRunOutcome } from '#contract/backtests/image-run.ts';
import { IMAGE_INPUT_PREFIX, IMAGE_RUN_OBJECTS, imageRunPrefix } from '#contract/backtests/image-run-keys.ts';
import type { RunBacktestJobDeps } from '#domain/backtests/run-backtest-job.ts';
import type {
  ClaimOutcome,
  CompletedRun,
  ObjectStore,
  SeriesKey,
  SeriesStore,
  TaskJobs,
} from '#domain/ports.ts';
import { ObjectResultStore } from '../objects/result-store.ts';
import { openObjectStore } from '../open-object-store.ts';
import { ParquetCandleReader } from '../parquet/candle-store.ts';

const JSON_TYPE = 'application/json';

interface ImageRunTaskEnv {
  readonly OBJECTS_DIRECTORY?: string | undefined;
  readonly RUNS_BUCKET: string;
  readonly CANDLES_BUCKET: string;
  readonly IMAGE_ROLE_ID: string;
  readonly RUN_INPUT: string;
}

/** A registered image's run as its own task sees it: the job's ID, and stores that read the input and write the outcome. */
export interface ImageRunTask
  extends Pick<RunBacktestJobDeps, 'jobs' | 'results' | 'series' | 'instruments' | 'candles'> {
  readonly jobId: string;
}

/**
 * Reads the input of the run. Throws Error when it is missing or of another release.
 *
 * @param task ARN of this task
 */
export async function openImageRun(env: ImageRunTaskEnv, task: string): Promise<ImageRunTask> {
  const stored = await openObjectStore(env, env.RUNS_BUCKET, IMAGE_INPUT_PREFIX).get(env.RUN_INPUT);
  if (!stored) throw new Error(`The input ${env.RUN_INPUT} is missing`);
  const input = ImageRunInput.parse(JSON.parse(Buffer.from(stored.body).toString('utf8')));
  const own = openObjectStore(env, env.RUNS_BUCKET, imageRunPrefix(env.IMAGE_ROLE_ID, task));
  const series = new InputSeries(input);
  return {
    jobId: input.job.job_id,
    jobs: new RunJob(input.job, own, series),
    results: new ObjectResultStore(own),
    series,
    instruments: {
      getMany: async (_, symbols) =>
        new Map(Object.entries(input.instruments).filter(([symbol]) => symbols.includes(symbol))),
    },
    candles: new ParquetCandleReader(openObjectStore(env, env.CANDLES_BUCKET), series),
  };
}

type Corrupt = Extract<ImageRunOutcome, { status: 'failed' }>['corrupt'];

/** Series as they were when the run was prepared. */
class InputSeries implements Pick<SeriesStore, 'getMany' | 'monthsOfMany' | 'months' | 'markCorrupt'> {
  /** Corrupt file that a read has found. */
  corrupt: Corrupt;
  readonly #input: ImageRunInput;

  constructor(input: ImageRunInput) {
    this.#input = input;
  }

  async getMany(exchange: string, series: readonly Omit<SeriesKey, 'exchange'>[]) {
    const wanted = new Set(series.map(nameOf));
    const found = this.#input.series.filter((each) => each.exchange === exchange && wanted.has(nameOf(each)));
    return new Map(found.map((each) => [nameOf(each), each]));
  }

  async monthsOfMany(_exchange: string, series: readonly Omit<SeriesKey, 'exchange'>[]) {
    const wanted = new Set(series.map(nameOf));
    const found = this.#input.months.filter((each) => wanted.has(nameOf(each)));
    return new Map(found.map((each) => [nameOf(each), each.months]));
  }

  async months(series: SeriesKey) {
    return this.#input.months.find((each) => nameOf(each) === nameOf(series))?.months ?? [];
  }

  /** The platform marks the series when it records the outcome. */
  async markCorrupt({ symbol, timeframe }: SeriesKey, month: string): Promise<void> {
    this.corrupt = { symbol, timeframe, month };
  }
}

function nameOf({ symbol, timeframe }: Omit<SeriesKey, 'exchange'>): string {
  return `${symbol}#${timeframe}`;
}

/** The job of the input. Its end is the outcome, which the platform checks and records. */
class RunJob implements TaskJobs {
  readonly #job: JobRun;
  readonly #objects: ObjectStore;
  readonly #series: InputSeries;

  constructor(job: JobRun, objects: ObjectStore, series: InputSeries) {
    this.#job = job;
    this.#objects = objects;
    this.#series = series;
  }

  /** The platform claims the job: here it keeps attempt 0. */
  async claim(_jobId: string, _task: string, at: string): Promise<ClaimOutcome<JobRun>> {
    return { outcome: 'claimed', job: { ...this.#job, attempt: 0, started_at: at } };
  }

  async setProgress(_jobId: string, _attempt: number, progress: number): Promise<boolean> {
    await this.#put(IMAGE_RUN_OBJECTS.progress, progress);
    return true;
  }

  async complete(job_id: string, _attempt: number, completed: CompletedRun): Promise<boolean> {
    const { results, timing, warnings, look_ahead, checks } = completed;
    const { digest, trade_pages } = results;
    return this.#end({
      schema_version: 1,
      job_id,
      status: 'completed',
      digest,
      trade_pages,
      timing,
      warnings: [...warnings],
      look_ahead,
      checks: checks && [...checks],
    });
  }

  async fail(job_id: string, _attempt: number, { code, message }: { code: string; message: string }) {
    const error = { code, message } as Extract<ImageRunOutcome, { status: 'failed' }>['error'];
    return this.#end({ schema_version: 1, job_id, status: 'failed', error, corrupt: this.#series.corrupt });
  }

  async #end(outcome: ImageRunOutcome): Promise<boolean> {
    await this.#put(IMAGE_RUN_OBJECTS.outcome, outcome);
    return true;
  }

  async #put(name: string, value: unknown): Promise<void> {
    await this.#objects.put(name, Buffer.from(JSON.stringify(value)), JSON_TYPE);
  }
}
