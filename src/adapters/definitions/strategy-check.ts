import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { StrategyReads } from '#domain/data/plan-reads.ts';
import { type Decided, type LookAheadCertificate, pairsOfCuts } from '#engine/look-ahead/certify.ts';
import type { LookAheadFinding } from '#engine/look-ahead/findings.ts';
import type { PairData } from '#engine/run/history.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { codeFile } from '../code-file.ts';
import { openSandbox } from '../processes/sandbox.ts';
import { spawnSupervised } from '../processes/supervised-process.ts';

/** Input of a check. */
export interface CheckRequest {
  /** Path of a strategy file; null for a built-in strategy. */
  readonly file: string | null;
  readonly builtIn: string | null;
  readonly exchange: string;
  /** Default: futures. */
  readonly tradingMode?: string | undefined;
  /** Default: the first `maxPairs` pairs of the strategy that are `available`. */
  readonly pairs: readonly string[] | undefined;
  /** Pairs of the exchange; undefined if they are unknown. */
  readonly available: readonly string[] | undefined;
  readonly maxPairs: number;
  /** Default: the timeframe of the strategy. */
  readonly timeframe: Timeframe | undefined;
  /** Open times, ms, end exclusive. Default: 1,000 candles up to `end`, or three windows for a strategy with models. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
  readonly end: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly cuts: number;
  readonly seed: number;
}

/** First message to the check process. */
export interface CheckStart {
  /** Part of each message of the process; strategy code cannot read it. */
  readonly secret: string;
  readonly request: CheckRequest;
  /** Present: only the truncated cuts of an earlier process are repeated. */
  readonly repeated?: Repeated;
}

/** What a process decided that has seen all candles. */
export interface Repeated {
  readonly config: ResolvedBacktestConfig;
  /** Up to the last cut. */
  readonly pairs: readonly PairData[];
  readonly decided: Decided;
}

/** Message of the check process. */
export type CheckMessage =
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'problems'; readonly problems: readonly string[] }
  /** `from`: time of the first candle that any series may need, ms. */
  | {
      readonly kind: 'definition';
      readonly config: ResolvedBacktestConfig;
      readonly strategy: StrategyReads;
      readonly from: number;
    }
  | { readonly kind: 'progress'; readonly share: number }
  /** `decided`: present without findings. */
  | {
      readonly kind: 'certificate';
      readonly certificate: LookAheadCertificate;
      readonly decided: Decided | undefined;
    }
  | { readonly kind: 'repeated'; readonly findings: readonly LookAheadFinding[] };

export interface CheckOptions {
  /** Loads what a run of the strategy reads of every pair of a configuration, from a time on, ms. */
  readonly loadCandles: (
    config: ResolvedBacktestConfig,
    strategy: StrategyReads,
    from: number,
  ) => Promise<readonly PairData[]>;
  readonly onProgress?: (share: number) => void;
  /** Output of the strategy. */
  readonly onOutput?: (text: string) => void;
  /** Folder of Node's compile cache; absent: the cache is off. */
  readonly compiled?: string | undefined;
  /** Maximum time between two messages of the process, ms. Default 60,000. */
  readonly limitMs?: number;
}

/** Problems of an invalid definition, or a certificate. */
export type CheckOutcome =
  | { readonly problems: readonly string[] }
  | { readonly config: ResolvedBacktestConfig; readonly certificate: LookAheadCertificate };

const LIMIT_MS = 60_000;

/** Share of the work after which an earlier process ends, and another one repeats its truncated cuts. */
const REPEATED_FROM = 0.7;

/**
 * Validates the definition of a strategy and searches it for look-ahead bias, in a sandboxed process with a minimal
 * environment. Findings name `file:line` if it is known. What has no finding is repeated in another process up to each cut: no code
 * of the strategy has seen later candles there, whatever it can keep in a process.
 *
 * @throws Error when the strategy fails, ends its process or makes no progress
 */
export async function checkStrategy(request: CheckRequest, options: CheckOptions): Promise<CheckOutcome> {
  const file = request.file && join(realpathSync(dirname(request.file)), basename(request.file));
  const start = { request: { ...request, file } };
  let config: ResolvedBacktestConfig;
  let pairs: readonly PairData[];
  const searched = await inProcess(start, options, (message, child) => {
    if (message.kind === 'progress') options.onProgress?.(message.share * REPEATED_FROM);
    if (message.kind !== 'definition') return;
    config = message.config;
    return options.loadCandles(config, message.strategy, message.from).then((loaded) => {
      pairs = loaded;
      child.send([...pairs]);
    });
  });
  if (searched.kind === 'problems') return { problems: searched.problems };
  const { certificate, decided } = searched as Ended<'certificate'>;
  const outcome = (findings = certificate.findings) => ({
    config,
    certificate: withLocations({ ...certificate, findings }, file),
  });
  // Built-in strategies keep nothing.
  if (!decided || !file) return outcome();
  const repeated = { config: config!, pairs: pairsOfCuts(pairs!, decided, config!.timeframe), decided };
  const again = await inProcess({ ...start, repeated }, options, (message) => {
    if (message.kind !== 'progress') return;
    options.onProgress?.(REPEATED_FROM + (1 - REPEATED_FROM) * message.share);
  });
  return outcome((again as Ended<'repeated'>).findings);
}

type Ended<Kind extends CheckMessage['kind']> = Extract<CheckMessage, { readonly kind: Kind }>;

/** The last message of a new check process. `onMessage` gets the ones before. */
async function inProcess(
  start: Omit<CheckStart, 'secret'>,
  options: CheckOptions,
  onMessage: (message: CheckMessage, child: ChildProcess) => Promise<void> | undefined,
): Promise<Ended<'problems' | 'certificate' | 'repeated'>> {
  const { file } = start.request;
  const entry = fileURLToPath(codeFile('./strategy-check-child', import.meta.url));
  const grants = { strategies: file ? dirname(file) : undefined };
  const sandbox = openSandbox(join(tmpdir(), `touchstone-check-${randomUUID()}`), grants, options.compiled);
  const child = spawnSupervised(process.execPath, [...sandbox.args, entry], sandbox.environment, 'messages');
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => options.onOutput?.(text));
  }
  const secret = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const wait = () => {
        clearTimeout(timer);
        const limit = options.limitMs ?? LIMIT_MS;
        const stalled = () =>
          reject(
            new Error(
              `it made no progress for ${Math.round(limit / 1000)} s. Check the strategy for endless loops`,
            ),
          );
        timer = setTimeout(stalled, limit);
      };
      child.on('error', reject);
      child.once('exit', (code, signal) =>
        reject(new Error(`its process ended with ${signal ?? `code ${code}`} during the check`)),
      );
      child.on('message', (sent: { readonly secret?: unknown; readonly message: CheckMessage } | null) => {
        wait();
        if (sent?.secret !== secret) return reject(new Error('it sent messages of its own'));
        const { message } = sent;
        if (message.kind === 'failed') reject(new Error(message.message));
        else if (message.kind === 'progress' || message.kind === 'definition')
          onMessage(message, child)?.catch(reject);
        else resolve(message);
      });
      child.send({ secret, ...start } satisfies CheckStart);
      wait();
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    await sandbox.remove();
  }
}

/** Adds the first line that names the callback or column to findings without a location. */
function withLocations(certificate: LookAheadCertificate, file: string | null): LookAheadCertificate {
  if (!file) return certificate;
  const lines = readFileSync(file, 'utf8').split('\n');
  const findings = certificate.findings.map((finding): LookAheadFinding => {
    const name = finding.callback ?? finding.column?.split('.').at(-1);
    if (finding.location || !name) return finding;
    const line = lines.findIndex(
      (text) => text.split(/\W+/).includes(name) && !/^\s*(\/\/|\*|import )/.test(text),
    );
    if (line < 0) return finding;
    const location = `${basename(file)}:${line + 1}`;
    return { ...finding, location, message: `${finding.message} (${location})` };
  });
  return { ...certificate, findings };
}
