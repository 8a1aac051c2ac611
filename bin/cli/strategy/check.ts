import { relative } from 'node:path';
import type { CheckOutcome } from '#adapters/definitions/strategy-check.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import { LocalEnv } from '#contract/env/env.ts';
import { SIMULATED } from '#contract/values/names.ts';
import type { TradingMode } from '#contract/values/trading-modes.ts';
import { describeCertificate, isPutToTest } from '#domain/inputs/search-look-ahead.ts';
import { parseTime } from '#domain/shared/iso-time.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { ALL_TIMEFRAMES, isTimeframe } from '#engine/timeframe.ts';
import { readEnv } from '#runtime/env.ts';
import { checkOnCandles } from '../../../src/local/certify-strategy.ts';
import { UsageError } from '../options.ts';
import { escapeControlChars } from '../output.ts';
import { findStrategyFile, strategiesFolder } from './strategy-file.ts';

export interface StrategyCheckOptions {
  readonly exchange: string;
  readonly tradingMode?: TradingMode;
  readonly pair: readonly string[];
  readonly timeframe?: string;
  readonly timerange?: string;
  readonly param: Readonly<Record<string, unknown>>;
  readonly cuts: number;
  readonly seed: number;
  readonly json?: boolean;
}

/**
 * Validates the definition of a strategy and searches it for look-ahead bias, without a running platform. Returns the exit code: 1
 * for a finding, or when these candles cannot show one.
 */
export async function checkCommand(strategy: string, options: StrategyCheckOptions): Promise<number> {
  const env = readEnv(LocalEnv);
  const folder = strategiesFolder();
  const builtIn = builtInStrategies.some(({ name }) => name === strategy) ? strategy : null;
  const file = builtIn ? null : await findStrategyFile(strategy, folder);
  const range = options.timerange === undefined ? undefined : parseTimerange(options.timerange);
  const { exchange, timeframe } = options;
  if (timeframe !== undefined && !isTimeframe(timeframe)) {
    throw new UsageError(`--timeframe must be one of ${ALL_TIMEFRAMES.join(', ')}`);
  }
  if (exchange !== SIMULATED && !range) {
    throw new UsageError(
      `--exchange ${exchange} needs the dates of the candles: --timerange 20250101-20250301`,
    );
  }
  const label = file ? escapeControlChars(relative(process.cwd(), file)) : strategy;
  const outcome = await checkOnCandles(
    {
      file,
      builtIn,
      exchange,
      timeframe,
      range,
      tradingMode: options.tradingMode,
      pairs: options.pair,
      params: options.param,
      cuts: options.cuts,
      seed: options.seed,
      home: env.TOUCHSTONE_HOME,
    },
    {
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

const RANGE = /^(\d{8}(?:T\d{4})?)-(\d{8}(?:T\d{4})?)$/;

function parseTimerange(text: string): { start: number; end: number } {
  const [, first = '', last = ''] = RANGE.exec(text) ?? [];
  const start = parseTime(first);
  const end = parseTime(last);
  if (start !== undefined && end !== undefined && start < end) return { start, end };
  throw new UsageError('--timerange must be two times, the second exclusive, such as 20250101-20250301T1200');
}

function showProgress(share: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\rchecked ${Math.floor(share * 100)} %`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
