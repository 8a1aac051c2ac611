import type { DefinitionProcess } from './definition-process.ts';
import { Slots } from './slots.ts';

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

/** Definition processes by the version of the file that they loaded. Idle ones are kept for a while, the latest used only. */
export class ProcessPool {
  readonly limits: Limits;
  readonly #slots = new Slots(MAX_BUSY);
  readonly #idle = new Map<object, Idle>();
  readonly #busy = new Set<DefinitionProcess>();
  #isClosed = false;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Runs `action` with the idle process of `owner`, or with a fresh one, which has not reported that it has loaded. */
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

  /** Keeps a process that has loaded for the next question about `owner`. */
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
