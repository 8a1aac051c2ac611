/** Checks of strategies for any test runner: `touchstone/testing`. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SIMULATED } from '#contract/values/names.ts';
import { CLI_LIMITS } from '#contract/values/request-limits.ts';
import type { TradingMode } from '#contract/values/trading-modes.ts';
import { describeCertificate, isPutToTest } from '#domain/inputs/search-look-ahead.ts';
import type { LookAheadCertificate } from '#engine/look-ahead/certify.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { checkOnCandles } from '../local/certify-strategy.ts';

export interface CausalOptions {
  /** Exchange of stored candles in `home`; it needs `range`. Default: simulated candles. */
  readonly exchange?: string;
  /** Data folder of stored candles. Default `.touchstone`. */
  readonly home?: string;
  /** Default: futures. */
  readonly tradingMode?: TradingMode;
  /** Default: up to three pairs of the strategy. */
  readonly pairs?: readonly string[];
  /** Default: the timeframe of the strategy. */
  readonly timeframe?: Timeframe;
  /** ISO times, end exclusive. Default: 1,000 simulated candles. */
  readonly range?: { readonly start: string; readonly end: string };
  /** Default: the defaults of the parameters. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Times at which later candles are removed. Default 20. */
  readonly cuts?: number;
  /** Seed of simulated candles and cuts. Default 1. */
  readonly seed?: number;
}

/**
 * Certifies that a strategy file is free of look-ahead bias, as `touchstone check` does: with its callbacks, in a sandboxed process of
 * its own. Returns the certificate.
 *
 * @param file path or `file:` URL, such as `new URL('../strategies/mine.ts', import.meta.url)`
 * @throws Error that lists each finding, each problem of the definition, or that these candles had no entry signal
 */
export async function expectCausal(
  file: string | { readonly href: string },
  options: CausalOptions = {},
): Promise<LookAheadCertificate> {
  const path = typeof file === 'string' && !file.startsWith('file:') ? resolve(file) : pathOf(file);
  const label = relative(process.cwd(), path);
  if (!existsSync(path)) throw new Error(`Strategy file ${path} does not exist`);
  const { exchange = SIMULATED, home = '.touchstone', range, params = {} } = options;
  if (exchange !== SIMULATED && !range) {
    throw new Error(
      `Candles of ${exchange} need a range, such as { start: '2025-01-01', end: '2025-03-01' }`,
    );
  }
  const outcome = await checkOnCandles(
    {
      file: path,
      builtIn: null,
      exchange,
      home,
      params,
      tradingMode: options.tradingMode,
      pairs: options.pairs,
      timeframe: options.timeframe,
      range: range && { start: Date.parse(range.start), end: Date.parse(range.end) },
      cuts: options.cuts ?? CLI_LIMITS.cuts.default,
      seed: options.seed ?? CLI_LIMITS.check_seed.default,
    },
    {},
  ).catch((cause: Error) => {
    throw new Error(`${label}: ${cause.message}`, { cause });
  });
  if ('problems' in outcome) throw new Error(`${label}: ${outcome.problems.join('; ')}`);
  const { certificate } = outcome;
  if (certificate.findings.length > 0) {
    const findings = certificate.findings.map(
      ({ kind, message }) => `${kind.replaceAll('_', '-')}: ${message}`,
    );
    throw new Error(
      [`${label} is not certified: ${describeCertificate(certificate)}`, ...findings].join('\n'),
    );
  }
  if (!isPutToTest(certificate)) {
    throw new Error(
      `${label} was not put to the test: no entry signal in ${certificate.rows} candles. Pass other pairs or another range.`,
    );
  }
  return certificate;
}

function pathOf(file: string | { readonly href: string }): string {
  return fileURLToPath(typeof file === 'string' ? file : file.href);
}
