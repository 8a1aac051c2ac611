import type { ResultsLocation } from '#contract/backtests/backtest.ts';
import type { ColumnsManifest, ColumnsOf, ColumnsPair } from '#contract/backtests/backtest-columns.ts';
import type { Analysis } from '#engine/analysis/analyze.ts';
import type { BacktestOutcome } from '#engine/backtest.ts';
import type { PairHistory } from '#engine/run/history.ts';
import { RunReasons } from '#engine/run/run-reasons.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import type { ClaimedJob, ResultStore, SeriesStore } from '../ports.ts';
import { changedCandles } from './changed-candles.ts';
import { COLUMNS_MANIFEST, columnsFile, columnsOfPair, encodePairColumns } from './column-files.ts';
import { encodeReasons } from './reason-files.ts';
import { sourceChanged } from './source-changed.ts';

interface ComputedColumnsDeps {
  readonly series: Pick<SeriesStore, 'monthsOfMany'>;
  /** Absent in the task of a registered image, which computes no columns. */
  readonly results: Partial<Pick<ResultStore, 'writeFiles'>>;
}

/** Columns of a backtest that runs again. They are stored pair by pair: together they may not fit into memory. */
export class ComputedColumns {
  readonly #deps: ComputedColumnsDeps;
  readonly #job: ClaimedJob;
  readonly #of: ColumnsOf;
  /** Of the run: the columns are encoded as they are computed, because the strategy may change its arrays later. */
  readonly reasons = new RunReasons((history, analysis) => this.#add(history, analysis));
  readonly #pairs: ColumnsPair[] = [];
  #files: (readonly [name: string, bytes: Uint8Array])[] = [];

  /** Throws RES005 when the source or the engine is not that of the backtest. @param digest of the source that runs now */
  constructor(deps: ComputedColumnsDeps, job: ClaimedJob, of: ColumnsOf, digest: string) {
    this.#deps = deps;
    this.#job = job;
    this.#of = of;
    const changed = sourceChanged(of, { engine_version: ENGINE_VERSION, strategy_digest: digest });
    if (changed) throw changed;
  }

  #add(history: PairHistory, analysis: Analysis): void {
    const { timeframe } = this.#job.config;
    const { described, files } = encodePairColumns(history, timeframe, columnsOfPair(history, analysis));
    const pair = this.#pairs.push(described) - 1;
    for (const [file, bytes] of files.entries()) this.#files.push([columnsFile(pair, file), bytes]);
  }

  /** Stores what was added. */
  async flush(): Promise<void> {
    const files = this.#files;
    this.#files = [];
    if (files.length > 0) await this.#write(files);
  }

  /** Stores the reasons of the trades, then the description. */
  async finish({ report, table }: Pick<BacktestOutcome, 'report' | 'table'>): Promise<ResultsLocation> {
    await this.flush();
    await this.#write(encodeReasons(table, this.reasons));
    const manifest: ColumnsManifest = {
      schema_version: 1,
      changed_candles: await changedCandles(this.#deps, this.#of, this.#job.config, report),
      pairs: this.#pairs,
    };
    return this.#write([[COLUMNS_MANIFEST, new TextEncoder().encode(JSON.stringify(manifest))]]);
  }

  async #write(files: Iterable<readonly [name: string, bytes: Uint8Array]>): Promise<ResultsLocation> {
    const { job_id, attempt } = this.#job;
    return this.#deps.results.writeFiles!(job_id, attempt, files);
  }
}
