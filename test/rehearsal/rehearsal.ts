import { Cdk, type StageChange } from './cdk.ts';
import { ACCOUNT, type Emulator, type EmulatorReport, REGION, startEmulator } from './emulator.ts';

/** `skipped`: the emulator cannot show it. `missing`: this machine lacks what it needs. */
export type Result = 'ok' | 'failed' | 'skipped' | 'missing';

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
  readonly run: (rehearsal: Rehearsal) => Promise<void>;
}

/** Settings without which a stage is not synthesized: prod is tied to an account and notifies somebody. */
const NEEDED: Readonly<Record<string, StageChange>> = {
  prod: {
    settings: { env: { account: ACCOUNT, region: REGION }, alarmEmail: 'rehearsal@example.com' },
  },
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

/** One run over a stage: what its parts share, and the rows of the table. */
export class Rehearsal {
  readonly stage: string;
  readonly rows: Row[] = [];
  readonly #onRow: (row: Row) => void;
  #part = '';
  #emulator: Promise<Emulator> | undefined;
  #cdk: Cdk | undefined;
  #deployed: Promise<Deployed> | undefined;

  constructor(stage: string, onRow: (row: Row) => void) {
    this.stage = stage;
    this.#onRow = onRow;
  }

  /** Runs a part. Its failure is a row, not an exception. */
  async run(part: Part): Promise<void> {
    this.#part = part.name;
    const reason = part.missing();
    if (reason) return this.#add(part.title, 'missing', reason, 0);
    const rows = this.rows.length;
    const started = performance.now();
    try {
      await part.run(this);
    } catch (error) {
      // A check that failed has its row already, and the part cannot continue.
      const failed = this.rows.slice(rows).some(({ result }) => result === 'failed');
      if (!failed) this.#add(part.title, 'failed', messageOf(error), performance.now() - started);
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
      assembly = await cdk.synth(stage, NEEDED[stage]);
      return 'cdk synth with its validation and cdk-nag';
    });
    await this.check(`${stage} deployed`, async () => {
      await cdk.deploy(assembly);
      const { resources } = await emulator.report();
      return `${resources.filter((each) => each.stack.startsWith('touchstone-')).length} resources`;
    });
    return { stage, emulator, cdk, assembly, report: await emulator.report() };
  }

  async close(): Promise<void> {
    this.#cdk?.close();
    await (await this.#emulator?.catch(() => undefined))?.stop();
  }

  #add(what: string, result: Result, detail: string, milliseconds: number): void {
    const row = { part: this.#part, what, result, detail, seconds: milliseconds / 1000 };
    this.rows.push(row);
    this.#onRow(row);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
