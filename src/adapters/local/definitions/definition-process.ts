import { fileURLToPath } from 'node:url';
import { sandboxArguments } from '../sandbox.ts';
import { type SupervisedProcess, spawnSupervised } from '../supervised-process.ts';
import { MAX_REPLY, REPLY_FD } from './limits.ts';

/** Heap of a definition process, MB: loading a strategy takes a tenth. */
const HEAP_MB = 128;
const PROGRAM = fileURLToPath(new URL('./child.ts', import.meta.url));
const STDERR_TAIL = 2_000;

/**
 * - `time`: no reply within the limit
 * - `ended`: the process ended before its reply
 * - `reply`: what it wrote is not a reply
 * - `start`: the machine did not start the process
 */
export type FailureKind = 'time' | 'ended' | 'reply' | 'start';

/** A definition process did not reply as it must. It is ended. */
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

/** Sandboxed process that has loaded one strategy file; program: child.ts. It has one request at a time. */
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
    // Not `exit`: what it wrote before its end comes first.
    this.#child.once('close', () => this.#fail('ended', this.#lastWords()));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /**
   * Next line that the process writes, after sending it `request`; without one the line that it writes once it has loaded.
   *
   * @throws DefinitionProcessError
   */
  async exchange(request: string | null, limitMs: number): Promise<string> {
    if (!this.#isAlive) throw new DefinitionProcessError('ended', this.#lastWords());
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
      // Its group: what it may have started ends with it.
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }

  #lastWords(): string {
    return this.#stderr.includes('heap out of memory')
      ? `it needed more than ${HEAP_MB} MB of memory`
      : 'it ended its process';
  }
}
