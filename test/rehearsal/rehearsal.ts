import { Cdk, type StageChange } from './cdk.ts';
import { ACCOUNT, type Emulator, type EmulatorReport, REGION, startEmulator } from './emulator.ts';
import { endProcesses } from './processes.ts';

/** `skipped`: the emulator cannot show it. `missing`: this machine lacks what it needs. `not run`: no time was left. */
export type Result = 'ok' | 'failed' | 'skipped' | 'missing' | 'not run';

export interface Row {
  readonly part: string;
  readonly what: string;
  readonly result: Result;
  readonly detail: string;
  readonly seconds: number;
}

/** A part of the rehearsal, in a file of its own. */
export interface Part {
  readonly name: string;
  readonly title: string;
  /** Why this machine cannot run the part; undefined where it can. */
  readonly missing: () => string | undefined;
  /** Usual time on two idle cores, after the deployment that all parts share. */
  readonly seconds: number;
  readonly run: (rehearsal: Rehearsal) => Promise<void>;
}

/** Settings without which a stage is not synthesized: prod is tied to an account and notifies somebody. */
const NEEDED: Readonly<Record<string, StageChange['settings']>> = {
  prod: { env: { account: ACCOUNT, region: REGION }, alarmEmail: 'rehearsal@example.com' },
};

/** A deployed stage in its emulator. */
export interface Deployed {
  readonly stage: string;
  readonly emulator: Emulator;
  readonly cdk: Cdk;
  /** Folder of the deployed assembly. */
  readonly assembly: string;
  readonly report: EmulatorReport;
}

/** When a run must be over. */
export interface Limit {
  /** On the clock of performance.now(), ms. */
  readonly deadline: number;
  /** Aborts at the deadline, or earlier if somebody interrupts the run. */
  readonly signal: AbortSignal;
}

/** A part starts only while this many times its usual time is left: other work may slow the machine. */
const RESERVE = 2;

/** One run over a stage: what its parts share, and the rows of the table. */
export class Rehearsal {
  readonly stage: string;
  readonly rows: Row[] = [];
  readonly #onRow: (row: Row) => void;
  readonly #limit: Limit;
  #isOver = false;
  #part = '';
  #emulator: Promise<Emulator> | undefined;
  #cdk: Cdk | undefined;
  #deployed: Promise<Deployed> | undefined;

  constructor(stage: string, limit: Limit, onRow: (row: Row) => void) {
    this.stage = stage;
    this.#limit = limit;
    this.#onRow = onRow;
  }

  /** Runs a part while there is time. Its failure is a row, not an exception. */
  async run(part: Part): Promise<void> {
    const { deadline, signal } = this.#limit;
    this.#part = part.name;
    const reason = part.missing();
    if (reason) return this.#add(part.title, 'missing', reason, 0);
    const left = (deadline - performance.now()) / 1000;
    if (signal.aborted || left < part.seconds * RESERVE) return this.#notRun(part, left);
    const rows = this.rows.length;
    const started = performance.now();
    try {
      await Promise.race([part.run(this), aborted(signal)]);
    } catch (error) {
      // A check that failed has its row already, and the part cannot continue.
      const failed = !signal.aborted && this.rows.slice(rows).some(({ result }) => result === 'failed');
      if (!failed) this.#add(part.title, 'failed', messageOf(error), performance.now() - started);
      // What a part that was cut off still does has no rows.
      this.#isOver = signal.aborted;
    }
  }

  /** Runs a check and adds its row, with what it returns as the detail. Throws what the check throws, after its row. */
  async check(what: string, body: () => Promise<string> | string): Promise<void> {
    const started = performance.now();
    try {
      this.#add(what, 'ok', await body(), performance.now() - started);
    } catch (error) {
      this.#add(what, 'failed', messageOf(error), performance.now() - started);
      throw error;
    }
  }

  /** As {@link check}; the part continues after a failure. */
  async verify(what: string, body: () => Promise<string> | string): Promise<void> {
    await this.check(what, body).catch(() => undefined);
  }

  skipped(what: string, why: string): void {
    this.#add(what, 'skipped', why, 0);
  }

  missing(what: string, why: string): void {
    this.#add(what, 'missing', why, 0);
  }

  emulator(): Promise<Emulator> {
    this.#emulator ??= startEmulator();
    return this.#emulator;
  }

  /** Settings without which the stage is not synthesized. */
  get neededSettings(): Readonly<Record<string, unknown>> {
    return NEEDED[this.stage] ?? {};
  }

  /** The stage, bootstrapped and deployed once for all parts. */
  deployed(): Promise<Deployed> {
    this.#deployed ??= this.#deploy();
    return this.#deployed;
  }

  async #deploy(): Promise<Deployed> {
    const { stage } = this;
    const emulator = await this.emulator();
    const cdk = new Cdk(emulator);
    this.#cdk = cdk;
    let assembly = '';
    await this.check('account bootstrapped', async () => {
      await cdk.bootstrap();
      return 'cdk bootstrap in an empty account';
    });
    await this.check(`${stage} synthesized`, async () => {
      assembly = await cdk.synth(stage, { settings: this.neededSettings });
      return 'cdk synth with its validation and cdk-nag';
    });
    await this.check(`${stage} deployed`, async () => {
      await cdk.deploy(assembly);
      const { resources } = await emulator.report();
      return `${resources.filter((each) => each.stack.startsWith('touchstone-')).length} resources`;
    });
    return { stage, emulator, cdk, assembly, report: await emulator.report() };
  }

  /** Ends every process and removes what they wrote. */
  async close(): Promise<void> {
    endProcesses();
    this.#cdk?.close();
    await (await this.#emulator?.catch(() => undefined))?.stop();
  }

  #notRun({ title, seconds }: Part, left: number): void {
    const { signal } = this.#limit;
    const why = signal.aborted
      ? signal.reason.message
      : `${left.toFixed(0)} s are left, and it usually takes ${seconds} s`;
    this.#add(title, 'not run', why, 0);
  }

  #add(what: string, result: Result, detail: string, milliseconds: number): void {
    if (this.#isOver && result !== 'not run') return;
    const row = { part: this.#part, what, result, detail, seconds: milliseconds / 1000 };
    this.rows.push(row);
    this.#onRow(row);
  }
}

/** Rejects with the reason of the signal. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
