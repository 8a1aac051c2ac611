import { fileURLToPath } from 'node:url';
import { codeFile } from '../code-file.ts';
import { sandboxArguments } from '../processes/sandbox.ts';
import { type SupervisedProcess, spawnSupervised } from '../processes/supervised-process.ts';
import { MAX_REPLY, REPLY_FD } from './limits.ts';

/** Heap of a definition process, MB: loading a strategy takes a tenth. */
const HEAP_MB = 128;
const PROGRAM = fileURLToPath(codeFile('./child', import.meta.url));
const STDERR_TAIL = 2_000;

/**
 * - `time`: no reply within the limit
 * - `ended`: the process ended before its reply
 * - `reply`: the output is not a valid reply
 * - `start`: the operating system did not start the process
 */
export type FailureKind = 'time' | 'ended' | 'reply' | 'start';

/** A definition process failed to reply. The process has been ended. */
export class DefinitionProcessError extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: DefinitionProcessError) => void;
}

/** Sandboxed process that has loaded one strategy file; program: child.ts. It handles one request at a time. */
export class DefinitionProcess {
  readonly #child: SupervisedProcess;
  #waiting: Waiting | undefined;
  #received = '';
  #stderr = '';
  #isAlive = true;

  /** @param folder that holds `file`, without links in its path */
  constructor(folder: string, file: string) {
    const limits = [`--max-old-space-size=${HEAP_MB}`, '--no-warnings'];
    const args = [...sandboxArguments({ strategies: folder }), ...limits, PROGRAM, folder, file];
    this.#child = spawnSupervised(process.execPath, args, {}, 'lines');
    const { stdin, stdout, stderr, stdio } = this.#child;
    stdin!.on('error', () => {});
    stdout.resume();
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_TAIL);
    });
    const replies = stdio[REPLY_FD];
    replies.setEncoding('utf8').on('data', (text: string) => this.#receive(text));
    replies.on('error', () => {});
    this.#child.once('error', (error) => this.#fail('start', error.message));
    // Not `exit`: `close` fires after all output was read.
    this.#child.once('close', () => this.#fail('ended', this.#exitReason()));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /**
   * Sends `request` and returns the next line that the process writes. With null it returns the line written after loading.
   *
   * @throws DefinitionProcessError
   */
  async exchange(request: string | null, limitMs: number): Promise<string> {
    if (!this.#isAlive) throw new DefinitionProcessError('ended', this.#exitReason());
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting = { resolve, reject };
    const timer = setTimeout(() => this.#fail('time', `no reply within ${limitMs / 1000} s`), limitMs);
    if (request !== null) this.#child.stdin!.write(`${request}\n`);
    return promise.finally(() => clearTimeout(timer));
  }

  end(): void {
    this.#fail('ended', 'it was ended');
  }

  #receive(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\n');
    if (end < 0 && this.#received.length <= MAX_REPLY) return;
    const waiting = this.#waiting;
    if (end < 0 || end !== this.#received.length - 1 || !waiting) {
      this.#fail('reply', 'it wrote to the channel of its replies');
      return;
    }
    const line = this.#received.slice(0, end);
    this.#received = '';
    this.#waiting = undefined;
    waiting.resolve(line);
  }

  #fail(kind: FailureKind, message: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(new DefinitionProcessError(kind, message));
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      // The process group, so that processes it started end too.
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }

  #exitReason(): string {
    return this.#stderr.includes('heap out of memory')
      ? `it needed more than ${HEAP_MB} MB of memory`
      : 'it ended its process';
  }
}

/** Limits the number of concurrent actions; further actions wait in order, preferred ones first. */
export class Slots {
  readonly #waiting: { readonly start: () => void; readonly owner: object | undefined }[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(action: () => Promise<T>, owner?: object): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((start) => this.#waiting.push({ start, owner }));
    try {
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next) next.start();
      else this.#free++;
    }
  }

  /** Starts the waiting action of `owner` next. */
  prefer(owner: object): void {
    const index = this.#waiting.findIndex((each) => each.owner === owner);
    if (index > 0) this.#waiting.unshift(...this.#waiting.splice(index, 1));
  }
}

export interface Limits {
  /** For loading one file, ms. */
  readonly loadLimitMs: number;
  /** For one call of `startupCandles`, ms. */
  readonly startupLimitMs: number;
}

/** Idle processes that are kept; each takes 50 MB. */
const MAX_IDLE = 4;
const MAX_BUSY = 8;
const IDLE_MS = 60_000;

interface Idle {
  readonly process: DefinitionProcess;
  readonly timer: NodeJS.Timeout;
}

/** Definition processes by the file version that they loaded. The most recently used idle processes are kept for 60 s. */
export class ProcessPool {
  readonly limits: Limits;
  readonly #slots = new Slots(MAX_BUSY);
  readonly #idle = new Map<object, Idle>();
  readonly #busy = new Set<DefinitionProcess>();
  #isClosed = false;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Runs `action` with the idle process of `owner`, or with a fresh process that has not reported its load yet. */
  use<T>(
    owner: object,
    start: () => DefinitionProcess,
    action: (process: DefinitionProcess, isFresh: boolean) => Promise<T>,
  ): Promise<T> {
    return this.#slots.run(async () => {
      const idle = this.#take(owner);
      const process = idle ?? start();
      this.#busy.add(process);
      try {
        return await action(process, !idle);
      } finally {
        this.#busy.delete(process);
        this.keep(owner, process);
      }
    });
  }

  /** Keeps a loaded process for the next request about `owner`. */
  keep(owner: object, process: DefinitionProcess): void {
    if (this.#isClosed) process.end();
    if (!process.isAlive) return;
    this.drop(owner);
    const timer = setTimeout(() => this.drop(owner), IDLE_MS);
    timer.unref();
    this.#idle.set(owner, { process, timer });
    const [oldest] = this.#idle.keys();
    if (this.#idle.size > MAX_IDLE) this.drop(oldest!);
  }

  /** Ends the idle process of `owner`. */
  drop(owner: object): void {
    this.#take(owner)?.end();
  }

  close(): void {
    this.#isClosed = true;
    for (const owner of [...this.#idle.keys()]) this.drop(owner);
    for (const process of this.#busy) process.end();
  }

  #take(owner: object): DefinitionProcess | undefined {
    const idle = this.#idle.get(owner);
    if (!idle) return undefined;
    clearTimeout(idle.timer);
    this.#idle.delete(owner);
    return idle.process.isAlive ? idle.process : undefined;
  }
}
