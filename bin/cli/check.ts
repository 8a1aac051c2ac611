import { join, relative, resolve } from 'node:path';
import { SimExchange } from '#adapters/exchange/sim.ts';
import { compileCache } from '#adapters/local/sandbox.ts';
import { type CheckOutcome, checkStrategy } from '#adapters/local/strategy-check.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { candlesPrefix } from '#adapters/parquet/keys.ts';
import { MonthFiles } from '#adapters/parquet/month-files.ts';
import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { LocalEnv } from '#contract/env.ts';
import { describeCertificate, isPutToTest } from '#domain/search-look-ahead.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import type { PairData } from '#engine/run/history.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { isTimeframe, TIMEFRAME_MS, TIMEFRAMES } from '#engine/timeframe.ts';
import { readEnv } from '#runtime/env.ts';
import { UsageError } from './options.ts';
import { escapeControlChars } from './output.ts';
import { findStrategyFile, strategiesFolder } from './strategy-file.ts';

export interface StrategyCheckOptions {
  readonly exchange: string;
  readonly pair: readonly string[];
  readonly timeframe?: string;
  readonly timerange?: string;
  readonly param: Readonly<Record<string, unknown>>;
  readonly cuts: number;
  readonly seed: number;
  readonly json?: boolean;
}

const SIM = 'sim';
/** End of simulated candles without --timerange; fixed, so that a check is repeatable. */
const SIM_END = Date.UTC(2025, 0, 1);
const MAX_PAIRS = 3;
/** Bucket of candles and funding rates in the data folder. */
const BUCKET = 'candles';

/**
 * Validates the definition of a strategy and searches it for look-ahead bias, without a running platform. Returns the exit code: 1
 * for a finding, or when these candles cannot show one.
 */
export async function checkCommand(strategy: string, options: StrategyCheckOptions): Promise<number> {
  const env = readEnv(LocalEnv);
  const folder = strategiesFolder();
  const builtIn = builtInStrategies.some(({ name }) => name === strategy) ? strategy : null;
  const file = builtIn ? null : await findStrategyFile(strategy, folder);
  const range = options.timerange === undefined ? undefined : parseRange(options.timerange);
  const { exchange, timeframe } = options;
  if (timeframe !== undefined && !isTimeframe(timeframe)) {
    throw new UsageError(`--timeframe must be one of ${TIMEFRAMES.join(', ')}`);
  }
  if (exchange !== SIM && !range) {
    throw new UsageError(
      `--exchange ${exchange} needs the dates of the candles: --timerange 20250101-20250301`,
    );
  }
  const sim = new SimExchange({ seed: options.seed });
  const loadCandles = async (config: ResolvedBacktestConfig, from: number): Promise<PairData[]> =>
    Promise.all(
      config.pairs.map(async (pair) => {
        const end = Date.parse(config.date_range.end);
        const candles =
          exchange === SIM
            ? await sim.fetchCandles(pair, config.timeframe, from, end)
            : await storedCandles(env.TOUCHSTONE_HOME, config, pair, from);
        return { pair, candles };
      }),
    );
  const label = file ? escapeControlChars(relative(process.cwd(), file)) : strategy;
  const outcome = await checkStrategy(
    {
      file,
      builtIn,
      exchange,
      timeframe,
      range,
      pairs: options.pair.length > 0 ? options.pair : undefined,
      available: exchange === SIM ? await sim.symbols() : undefined,
      maxPairs: MAX_PAIRS,
      end: SIM_END,
      params: options.param,
      cuts: options.cuts,
      seed: options.seed,
    },
    {
      loadCandles,
      onProgress: showProgress,
      compiled: compileCache(),
      onOutput: (text) => process.stderr.write(escapeControlChars(text)),
    },
  )
    .catch((error: Error) => {
      throw new Error(`${label}: ${error.message}`, { cause: error });
    })
    .finally(clearProgress);
  if (options.json) {
    console.log(JSON.stringify({ strategy: label, ...outcome }));
    return 'certificate' in outcome && isCertified(outcome) ? 0 : 1;
  }
  return print(label, outcome);
}

function isCertified({ certificate }: Extract<CheckOutcome, { certificate: unknown }>): boolean {
  return certificate.findings.length === 0 && isPutToTest(certificate);
}

function print(label: string, outcome: CheckOutcome): number {
  if ('problems' in outcome) {
    for (const problem of outcome.problems) console.error(`${label}: ${escapeControlChars(problem)}`);
    return 1;
  }
  const { config, certificate } = outcome;
  const { start, end } = config.date_range;
  const where = `${config.pairs.join(', ')} on ${config.exchange}, ${config.timeframe}, ${start.slice(0, 10)} to ${end.slice(0, 10)}`;
  for (const { kind, message } of certificate.findings) {
    console.error(`${kind.replaceAll('_', '-')}: ${escapeControlChars(message)}`);
  }
  const covered = `${describeCertificate(certificate)} (${where})`;
  if (certificate.findings.length > 0) {
    console.error(`${label} is not certified: ${covered}`);
    return 1;
  }
  if (!isPutToTest(certificate)) {
    console.error(
      `${label} not_checked: no entry signal in ${certificate.rows} candles (${where}). Choose other candles with --pair and --timerange.`,
    );
    return 1;
  }
  console.log(`${label} ${covered}`);
  return 0;
}

async function storedCandles(
  home: string,
  config: ResolvedBacktestConfig,
  pair: string,
  from: number,
): Promise<Candles> {
  const { exchange, timeframe } = config;
  const objects = openObjectStore({ OBJECTS_DIRECTORY: join(resolve(home), 'objects') }, BUCKET);
  const files = new MonthFiles(objects, CANDLE_COLUMNS);
  const prefix = candlesPrefix({ exchange, symbol: pair, timeframe });
  const end = Date.parse(config.date_range.end);
  const columns = await files.read(prefix, from, end, TIMEFRAME_MS[timeframe], undefined, []);
  const candles = Object.fromEntries(CANDLE_COLUMNS.map((name, index) => [name, columns[index]!])) as Record<
    (typeof CANDLE_COLUMNS)[number],
    Float64Array
  >;
  if (candles.timestamp.length > 0) return candles;
  throw new Error(
    `No ${timeframe} candles of ${pair} on ${exchange} are stored in ${home} between ${new Date(from).toISOString()} and ${config.date_range.end}. Import or collect them first.`,
  );
}

const RANGE = /^(\d{4})(\d\d)(\d\d)-(\d{4})(\d\d)(\d\d)$/;

function parseRange(text: string): { start: number; end: number } {
  const match = RANGE.exec(text);
  const [start, end] = match
    ? [Date.parse(match.slice(1, 4).join('-')), Date.parse(match.slice(4, 7).join('-'))]
    : [Number.NaN, Number.NaN];
  if (start < end) return { start, end };
  throw new UsageError('--timerange must be two days, the second exclusive, such as 20250101-20250301');
}

function showProgress(share: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\rchecked ${Math.floor(share * 100)} %`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
