import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { TaskControl } from '#domain/execution-ports.ts';
import { spawnTied } from './tied-process.ts';

/** How a task's process ended. */
export interface TaskExit {
  readonly task: string;
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines it wrote to standard error. */
  readonly stderr: string;
}

export interface TaskRequest {
  /** Entry point: a file that Node runs. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Higher runs first among the waiting. */
  readonly priority: number;
  readonly signal: AbortSignal;
}

export interface TaskRunnerOptions {
  /** Tasks that run at once. */
  readonly concurrency: number;
  /** Environment of every task, under its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Options of Node itself, for example a memory limit. */
  readonly nodeOptions?: readonly string[];
  /** Receives each line that a task prints. */
  readonly onOutput: (task: string, line: string) => void;
  /** Is told of each task that ended with another exit code than 0 by itself, or was killed by somebody else. */
  readonly onCrash: (exit: TaskExit) => void;
}

interface Waiting {
  readonly request: TaskRequest;
  readonly order: number;
  readonly start: () => void;
}

/** Fargate sends SIGTERM and kills after the task's stop time-out; here the wait is shorter, nothing is billed. */
const KILL_AFTER_MS = 10_000;
const STDERR_TAIL = 4_000;

/**
 * Runs task entry points as child processes: the one machine's Fargate. Tasks wait in order of priority.
 * No task outlives this process, however it ends.
 */
export class TaskRunner implements TaskControl {
  readonly #options: TaskRunnerOptions;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, ChildProcess>();
  #order = 0;
  #active = 0;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
  }

  /** Runs a task to its end, after waiting for a free place. Rejects with AbortError when aborted before it started. */
  async run(request: TaskRequest): Promise<TaskExit> {
    await this.#place(request);
    try {
      request.signal.throwIfAborted();
      return await this.#execute(request);
    } finally {
      this.#active--;
      this.#startNext();
    }
  }

  /** Ends a task: SIGTERM, then SIGKILL. An unknown or ended task is no error. */
  async stop(task: string): Promise<void> {
    const child = this.#running.get(task);
    if (child) terminate(child);
  }

  /** Ends every task and waits until they are gone. */
  async stopAll(): Promise<void> {
    const ended = [...this.#running.values()].map((child) => {
      const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
      terminate(child);
      return exit;
    });
    await Promise.all(ended);
  }

  #place(request: TaskRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { request, order: this.#order++, start: resolve };
      this.#waiting.push(waiting);
      request.signal.addEventListener(
        'abort',
        () => {
          const index = this.#waiting.indexOf(waiting);
          if (index >= 0) this.#waiting.splice(index, 1);
          reject(request.signal.reason);
        },
        { once: true },
      );
      this.#startNext();
    });
  }

  #startNext(): void {
    this.#waiting.sort((a, b) => b.request.priority - a.request.priority || a.order - b.order);
    while (this.#active < this.#options.concurrency) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#active++;
      next.start();
    }
  }

  #execute(request: TaskRequest): Promise<TaskExit> {
    const task = `local-${randomUUID()}`;
    const child = spawnTied(process.execPath, [...(this.#options.nodeOptions ?? []), request.entry], {
      ...this.#options.environment,
      ...request.environment,
      TASK_ID: task,
    });
    this.#running.set(task, child);
    const onAbort = () => terminate(child);
    request.signal.addEventListener('abort', onAbort, { once: true });
    let stderr = '';
    forLines(child.stdout, (line) => this.#options.onOutput(task, line));
    forLines(child.stderr, (line) => {
      stderr = `${stderr}${line}\n`.slice(-STDERR_TAIL);
      this.#options.onOutput(task, line);
    });
    return new Promise<TaskExit>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        const exit = { task, code, signal, stderr };
        if (code !== 0 && !child.killed) this.#options.onCrash(exit);
        resolve(exit);
      });
    }).finally(() => {
      this.#running.delete(task);
      request.signal.removeEventListener('abort', onAbort);
    });
  }
}

function terminate(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  timer.unref();
  child.once('close', () => clearTimeout(timer));
}

function forLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) onLine(line);
  });
  stream.on('end', () => {
    if (rest) onLine(rest);
  });
}
