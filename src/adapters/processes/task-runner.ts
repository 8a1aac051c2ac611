import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TaskControl } from '#domain/jobs/execution-ports.ts';
import { inWords, ProcessWatch } from './process-watch.ts';
import { forLines } from './read-lines.ts';
import { LOADING, MARK_BYTES, PROGRESS_DESCRIPTOR } from './report-progress.ts';
import { openFolder, openSandbox, type SandboxGrants } from './sandbox.ts';
import { spawnSupervised } from './supervised-process.ts';

/** End of a task's process. */
export interface TaskExit {
  readonly task: string;
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Last lines of standard error. */
  readonly stderr: string;
  /** Reason for the user why a further attempt would end in the same way; absent: it might succeed. */
  readonly final?: string;
}

export interface TaskRequest {
  /** Entry point: a file that Node runs. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Permissions of a task that runs strategy code; absent: the permissions of this process. */
  readonly sandbox?: SandboxGrants | undefined;
  /** Identity of the task; absent: a random one. */
  readonly task?: string;
  readonly signal: AbortSignal;
}

/** Limits of tasks that run strategy code. */
export interface TaskLimits {
  /** Maximum run time of a task, ms. */
  readonly taskMs: number;
  /** Maximum time to load a strategy file, ms. */
  readonly loadMs: number;
  /** Time without progress after which {@link TaskRunnerOptions.onStall} is called, ms. */
  readonly stallMs: number;
}

export interface TaskRunnerOptions {
  /** Environment of every task; variables of the request take precedence. */
  readonly environment: Readonly<Record<string, string>>;
  /** Parent folder of the temporary folders of running tasks. */
  readonly temporary: string;
  /** Folder of Node's compile cache; absent: the cache is off. */
  readonly compiled?: string | undefined;
  /** Command line options of Node, for example a memory limit. */
  readonly nodeOptions?: readonly string[];
  readonly limits: TaskLimits;
  /** Receives each line that a task prints. */
  readonly onOutput: (task: string, line: string, request: TaskRequest) => void;
  /** Called when the process of a task has exited, before its output ends: another process may keep that open. */
  readonly onExit?: (task: string) => void;
  /** Called for each task that exited with a code other than 0, or was killed by another process. */
  readonly onCrash: (exit: TaskExit) => void;
  /** Called when a task that runs strategy code makes no progress, and with null when it continues. */
  readonly onStall: (request: TaskRequest, task: string, text: string | null) => void;
}

/** What runs the tasks of the local state machines. */
export type TaskHost = Pick<TaskRunner, 'run' | 'stop' | 'stopAll'>;

/** Time between SIGTERM and SIGKILL. Fargate does the same with the longer stop time-out of the task. */
const KILL_AFTER_MS = 10_000;
const STDERR_TAIL = 4_000;

/**
 * Runs task entry points as child processes, as Fargate does in AWS. All tasks end with this process, even after SIGKILL.
 */
export class TaskRunner implements TaskControl {
  readonly #options: TaskRunnerOptions;
  readonly #running = new Map<string, ChildProcess>();

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
  }

  /** Runs a task to its end. Rejects with AbortError when aborted before it started. */
  async run(request: TaskRequest): Promise<TaskExit> {
    request.signal.throwIfAborted();
    return this.#execute(request);
  }

  /** Ends a task: SIGTERM, then SIGKILL. Ignores an unknown or ended task. */
  async stop(task: string): Promise<void> {
    const child = this.#running.get(task);
    if (child) terminate(child);
  }

  /** Ends all tasks and waits for their exits. */
  async stopAll(): Promise<void> {
    const ended = [...this.#running.values()].map((child) => {
      const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
      terminate(child);
      return exit;
    });
    await Promise.all(ended);
  }

  async #execute(request: TaskRequest): Promise<TaskExit> {
    const { temporary, compiled, nodeOptions = [], environment } = this.#options;
    const task = request.task ?? `local-${randomUUID()}`;
    const mark = randomBytes(MARK_BYTES).toString('hex');
    const folder = join(temporary, task);
    const { sandbox } = request;
    const box = sandbox ? openSandbox(folder, sandbox, compiled) : openFolder(folder, compiled);
    const child = spawnSupervised(process.execPath, [...nodeOptions, ...box.args, request.entry], {
      ...environment,
      ...request.environment,
      ...box.environment,
      ...(sandbox && { WATCH_MARK: mark }),
      TASK_ID: task,
    });
    this.#running.set(task, child);
    child.once('exit', () => {
      endGroup(child.pid!);
      this.#options.onExit?.(task);
    });
    const onAbort = () => terminate(child);
    request.signal.addEventListener('abort', onAbort, { once: true });
    const finalReason = sandbox && this.#watch(request, task, child, mark);
    let stderr = '';
    forLines(child.stdout, (line) => this.#options.onOutput(task, line, request));
    forLines(child.stderr, (line) => {
      stderr = `${stderr}${line}\n`.slice(-STDERR_TAIL);
      this.#options.onOutput(task, line, request);
    });
    try {
      return await new Promise<TaskExit>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, signal) => {
          const final = finalReason?.(code);
          const exit = { task, code, signal, stderr, ...(final && { final }) };
          if (code !== 0 && !child.killed) this.#options.onCrash(exit);
          resolve(exit);
        });
      });
    } finally {
      this.#running.delete(task);
      request.signal.removeEventListener('abort', onAbort);
      await box.remove();
    }
  }

  /**
   * Ends the task at its limits. Returns a function for {@link TaskExit.final}, to be called after the exit.
   */
  #watch(request: TaskRequest, task: string, child: ChildProcess, mark: string) {
    const { taskMs, loadMs, stallMs } = this.#options.limits;
    let overdue: string | undefined;
    const endAfter = (ms: number, words: () => string) =>
      setTimeout(() => {
        overdue ??= words();
        watch.close();
        terminate(child);
      }, ms).unref();
    let loading: NodeJS.Timeout | undefined;
    const watch = new ProcessWatch(child.pid!, mark, child.stdio[PROGRESS_DESCRIPTOR] as Readable, {
      stallMs,
      onStall: (text) => this.#options.onStall(request, task, text),
      onEnter: (what) => {
        clearTimeout(loading);
        const words = () => `The file was still loading after ${inWords(loadMs)}. Check it for endless loops`;
        loading = what.startsWith(LOADING) ? endAfter(loadMs, words) : undefined;
      },
    });
    const whole = endAfter(taskMs, () => {
      const silence = watch.silence() || `it was in ${watch.where()}`;
      return `The task was ended after ${inWords(taskMs)}, the time limit of a job (JOB_LIMIT_MINUTES): ${silence}`;
    });
    return (code: number | null): string | undefined => {
      watch.close();
      clearTimeout(whole);
      clearTimeout(loading);
      if (overdue || code === null || !watch.inStrategy) return overdue;
      return `The strategy ended its process in ${watch.where()}`;
    };
  }
}

/** Ends what a task has left in its process group. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

/** SIGTERM, then SIGKILL. */
function terminate(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  timer.unref();
  child.once('close', () => clearTimeout(timer));
}
