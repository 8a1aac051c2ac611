import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of strategies that misbehave in a task's process, as users' code can. */
export class MisbehavingStrategies {
  readonly folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));

  /** `body` runs when the indicators are computed; it may use `existsSync`, `writeFileSync` and `here`. */
  add(name: string, body: string): void {
    writeFileSync(
      join(this.folder, `${name}.ts`),
      `import { existsSync, writeFileSync } from 'node:fs';
const here = import.meta.dirname;
export default {
  name: '${name}', description: 'Misbehaves.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 1, stoploss: -0.99,
  indicators() { ${body} return {}; },
  signals(candles) {
    const enterLong = new Uint8Array(candles.timestamp.length);
    enterLong[1] = 1;
    return { enterLong };
  },
};
`,
    );
  }

  /** A strategy that waits until {@link open} is called, and leaves a file for each process that has begun. */
  addGated(name: string): void {
    this.add(
      name,
      `writeFileSync(here + '/${name}-begun-' + process.pid, '');
       const pause = new Int32Array(new SharedArrayBuffer(4));
       while (!existsSync(here + '/${name}-open')) Atomics.wait(pause, 0, 0, 10);`,
    );
  }

  open(name: string): void {
    writeFileSync(join(this.folder, `${name}-open`), '');
  }

  /** Process ids of the tasks that have begun. */
  begun(name: string): number[] {
    const prefix = `${name}-begun-`;
    return readdirSync(this.folder)
      .filter((file) => file.startsWith(prefix))
      .map((file) => Number(file.slice(prefix.length)));
  }

  has(file: string): boolean {
    return existsSync(join(this.folder, file));
  }
}
