import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type LookAhead, notChecked } from '#contract/config/look-ahead.ts';
import type { HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import type { TrialOutcome, TrialRequest } from '#domain/hyperopt/run-trial.ts';
import { type Failure, FinalError } from '#domain/shared/final-failure.ts';
import { inWords, ProcessWatch } from '../processes/process-watch.ts';
import { forLines } from '../processes/read-lines.ts';
import { LOADING, MARK_BYTES, PROGRESS_DESCRIPTOR } from '../processes/report-progress.ts';
import { openSandbox, type Sandbox, type SandboxGrants } from '../processes/sandbox.ts';
import { spawnSupervised } from '../processes/supervised-process.ts';
import { parseTrialReply, type Ready, type TrialReply } from './trial-replies.ts';

/** Message to a trial process: the job first, then one trial at a time, or a search for look-ahead bias with the values of one. */
export type TrialMessage =
  | { readonly job: HyperoptJobIn<'running'>; readonly cacheBytes: number }
  | { readonly request: TrialRequest }
  | { readonly sampled: ResolvedBacktestConfig };

/** The reply has the same secret. Each message has another one, which strategy code cannot read. */
export interface SecretMessage {
  readonly secret: string;
  readonly message: TrialMessage;
}

export interface TrialProcessesOptions {
  /** Module that a process runs. */
  readonly entry: string;
  readonly job: HyperoptJobIn<'running'>;
  /** Maximum number of processes; further trials wait. */
  readonly processes: number;
  /** Cache of data shared by trials, bytes, for all processes together. */
  readonly cacheBytes: number;
  readonly grants: SandboxGrants;
  /** Parent of the temporary folders of the processes. */
  readonly temporary: string;
  /** Folder of Node's compile cache. */
  readonly compiled?: string | undefined;
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of a trial, ms. */
  readonly trialMs: number;
  /** Time without progress after which a trial is reported as stalled, ms. */
  readonly stallMs: number;
  /** Time limit to load the strategy, ms. */
  readonly loadMs: number;
  /** Called for each line that a process prints. */
  readonly onOutput: (line: string) => void;
}

/** A trial process ran out of memory. A retry would too. */
export class TrialOutOfMemory extends Error {}

/** Crash outside strategy code. */
class TrialProcessEnded extends Error {}

type OnStall = (text: string | null) => void;

const FOREIGN_MESSAGE = "The strategy sent messages on the worker's channel.";

/** Semi-space of V8, MB. Trials create much garbage and keep little. The default takes 100 MB per process and never shrinks. */
const SEMI_SPACE_MB = 8;

/**
 * Runs each trial in a sandboxed process. This process runs no strategy code, so it can renew leases and react to signals
 * meanwhile. Processes start on demand and are reused. A process ends with a trial that is aborted or breaks it.
 */
export class TrialProcesses implements TrialRunner {
  readonly codeDigest: string;
  readonly dataDigest: string;
  readonly warnings: readonly string[];
  readonly #options: TrialProcessesOptions;
  readonly #idle: TrialProcess[];
  readonly #busy = new Set<TrialProcess>();
  readonly #waiting: (() => void)[] = [];

  /** Starts the first process. Throws FinalError when no trial could run, because data or the strategy is missing. */
  static async open(options: TrialProcessesOptions): Promise<TrialProcesses> {
    const first = new TrialProcess(options);
    return new TrialProcesses(options, first, await first.ready);
  }

  private constructor(options: TrialProcessesOptions, first: TrialProcess, ready: Ready) {
    this.#options = options;
    this.#idle = [first];
    this.codeDigest = ready.codeDigest;
    this.dataDigest = ready.dataDigest;
    this.warnings = ready.warnings;
  }

  async run(request: TrialRequest, signal: AbortSignal, onStall: OnStall): Promise<TrialOutcome> {
    const reply = await this.#reply({ request }, signal, onStall);
    if ('outcome' in reply) return reply.outcome;
    return { state: 'failed', error: reasonOf(reply) };
  }

  async sample(sampled: ResolvedBacktestConfig, signal: AbortSignal): Promise<LookAhead> {
    try {
      const reply = await this.#reply({ sampled }, signal, () => undefined);
      return 'lookAhead' in reply ? reply.lookAhead : notChecked(`not_checked: ${reasonOf(reply)}`);
    } catch (error) {
      // The trials have their results.
      if (error instanceof TrialOutOfMemory || error instanceof TrialProcessEnded)
        return notChecked(`not_checked: ${error.message}`);
      throw error;
    }
  }

  async #reply(message: TrialMessage, signal: AbortSignal, onStall: OnStall): Promise<TrialReply> {
    try {
      return await this.#replyOnce(message, signal, onStall);
    } catch (error) {
      // Killed from outside, or by a timer of an earlier trial. A reply depends only on its message, so it can run again.
      if (error instanceof TrialProcessEnded) return this.#replyOnce(message, signal, onStall);
      throw error;
    }
  }

  async #replyOnce(message: TrialMessage, signal: AbortSignal, onStall: OnStall): Promise<TrialReply> {
    const process = await this.#take(signal);
    try {
      if ((await process.ready).codeDigest !== this.codeDigest) {
        throw new Error('The strategy or the engine has changed since the first trial of this worker');
      }
      const reply = await process.reply(message, signal, onStall);
      if ('spent' in reply && !reply.spent) this.#idle.push(process);
      else await process.end();
      return reply;
    } catch (error) {
      await process.end();
      throw error;
    } finally {
      this.#busy.delete(process);
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle, ...this.#busy].map((process) => process.end()));
  }

  async #take(signal: AbortSignal): Promise<TrialProcess> {
    while (this.#idle.length === 0 && this.#busy.size >= this.#options.processes) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    signal.throwIfAborted();
    let process = this.#idle.pop();
    while (process && !process.isAlive) {
      void process.end();
      process = this.#idle.pop();
    }
    process ??= new TrialProcess(this.#options);
    this.#busy.add(process);
    return process;
  }
}

/** Why a process gave no result; a reply to another message came from the strategy. */
function reasonOf(reply: TrialReply): string {
  return 'failure' in reply ? reply.failure.message : FOREIGN_MESSAGE;
}

class TrialProcess {
  /** Resolves when the process has read the candles. */
  readonly ready: Promise<Ready>;
  readonly #options: TrialProcessesOptions;
  readonly #child: ChildProcess;
  readonly #sandbox: Sandbox;
  readonly #watch: ProcessWatch;
  readonly #gone: Promise<void>;
  #loading: NodeJS.Timeout | undefined;
  /** Reason why this process was killed, for the user. */
  #stopped: string | undefined;
  #onStall: OnStall | undefined;

  constructor(options: TrialProcessesOptions) {
    this.#options = options;
    const { temporary, grants, compiled, nodeOptions, environment, entry, job } = options;
    const mark = randomBytes(MARK_BYTES).toString('hex');
    this.#sandbox = openSandbox(join(temporary, `trials-${mark.slice(0, 8)}`), grants, compiled);
    const args = [...nodeOptions, `--max-semi-space-size=${SEMI_SPACE_MB}`, ...this.#sandbox.args, entry];
    const own = { ...environment, ...this.#sandbox.environment, WATCH_MARK: mark };
    const child = spawnSupervised(process.execPath, args, own, 'messages');
    this.#child = child;
    for (const output of [child.stdout, child.stderr]) forLines(output, options.onOutput);
    this.#watch = new ProcessWatch(child.pid!, mark, child.stdio[PROGRESS_DESCRIPTOR] as Readable, {
      stallMs: options.stallMs,
      onStall: (text) => this.#onStall?.(text),
      onEnter: (what) => this.#limitLoading(what),
    });
    this.#gone = new Promise((resolve) => child.once('close', () => resolve()));
    this.ready = this.#ask({ job, cacheBytes: options.cacheBytes / options.processes }).then((reply) => {
      if ('codeDigest' in reply) return reply;
      throw new FinalError('failure' in reply ? reply.failure : this.#failed(FOREIGN_MESSAGE));
    });
    // Callers get the rejection when they await `ready`. Before that, it must not end this process as unhandled.
    this.ready.catch(() => {});
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Rejects with the signal's reason when it is aborted. */
  async reply(message: TrialMessage, signal: AbortSignal, onStall: OnStall): Promise<TrialReply> {
    const { trialMs } = this.#options;
    const limit = setTimeout(() => {
      const silence = this.#watch.silence() || `it was in ${this.#watch.where()}`;
      this.#stop(`The trial was ended after ${inWords(trialMs)}, its time limit: ${silence}`);
    }, trialMs);
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    let isStalled = false;
    this.#onStall = (text) => {
      isStalled = text !== null;
      onStall(text);
    };
    try {
      return await Promise.race([this.#ask(message), aborted.promise]);
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      this.#onStall = undefined;
      if (isStalled) onStall(null);
    }
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
    this.#watch.close();
    clearTimeout(this.#loading);
    await this.#sandbox.remove();
  }

  #stop(reason: string): void {
    this.#stopped ??= reason;
    this.#watch.close();
    this.#child.kill('SIGKILL');
  }

  #limitLoading(what: string): void {
    clearTimeout(this.#loading);
    if (what !== LOADING) return;
    const { loadMs } = this.#options;
    const reason = `The file was still loading after ${inWords(loadMs)}. Check it for endless loops`;
    this.#loading = setTimeout(() => this.#stop(reason), loadMs);
  }

  /** Reply of the process, or a failure when the strategy ended it. Rejects when it ended otherwise. */
  #ask(message: TrialMessage): Promise<TrialReply> {
    const { promise, resolve, reject } = Promise.withResolvers<TrialReply>();
    const child = this.#child;
    const secret = randomUUID();
    const onClose = (code: number | null, signal: NodeJS.Signals | null) => {
      const reason = this.#reasonOf(code);
      if (reason) {
        resolve({ failure: this.#failed(reason) });
      } else if (signal === 'SIGABRT' || code === 134) {
        reject(new TrialOutOfMemory('A trial process ran out of memory'));
      } else {
        reject(new TrialProcessEnded(`A trial process ended: ${signal ?? `exit code ${code}`}`));
      }
    };
    const onMessage = (reply: unknown) =>
      resolve(parseTrialReply(reply, secret) ?? { failure: this.#failed(FOREIGN_MESSAGE) });
    child.once('message', onMessage).once('error', reject).once('close', onClose);
    // A process that ends closes the channel first; `close` then has the exit code.
    child.send(
      { secret, message } satisfies SecretMessage,
      (error) => error && !this.isAlive && reject(new TrialProcessEnded(error.message)),
    );
    return promise.finally(() => {
      child.off('message', onMessage).off('error', reject).off('close', onClose);
    });
  }

  #failed(reason: string): Failure {
    const { strategy } = this.#options.job.base;
    return { code: 'VAL006', message: `Strategy ${strategy} was stopped. ${reason}` };
  }

  #reasonOf(code: number | null): string | undefined {
    if (this.#stopped || code === null || code === 134 || !this.#watch.inStrategy) return this.#stopped;
    return `The strategy ended its process in ${this.#watch.where()}`;
  }
}
