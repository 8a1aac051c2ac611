import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder of strategies that misbehave in a task's process. */
export class MisbehavingStrategies {
  readonly folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));

  /** `body` runs in `indicators`. It may use `existsSync` and `writeFileSync` in its own folder and in `here`. */
  add(name: string, body: string): void {
    writeFileSync(
      join(this.folder, `${name}.ts`),
      `const { existsSync, writeFileSync } = (process as any).getBuiltinModule('node:fs');
const own = process.env.TMPDIR;
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

  /** Strategy that waits for {@link open} and keeps a file in its own folder while it runs. */
  addGated(name: string): void {
    this.add(
      name,
      `writeFileSync(own + '/${name}-begun-' + process.pid, '');
       const pause = new Int32Array(new SharedArrayBuffer(4));
       while (!existsSync(here + '/${name}-open')) Atomics.wait(pause, 0, 0, 10);`,
    );
  }

  open(name: string): void {
    writeFileSync(join(this.folder, `${name}-open`), '');
  }

  /** Process IDs of the running tasks of the platform with this data folder. */
  begun(name: string, home: string): number[] {
    const prefix = `${name}-begun-`;
    return filesIn(join(home, 'tasks'))
      .flatMap((task) => filesIn(join(home, 'tasks', task)))
      .filter((file) => file.startsWith(prefix))
      .map((file) => Number(file.slice(prefix.length)));
  }
}

/** Source of a strategy with a parameter `n`. */
export const strategySource = (
  name: string,
  { top = '', startup = 'return n;', fields = '', n = 5, max = 1000 } = {},
) => `${top}
export default {
  name: '${name}', description: 'Reads candles.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: { n: { kind: 'integer', default: ${n}, min: 1, max: ${max}, description: 'Candles' } },
  startupCandles({ n }) { ${startup} }, stoploss: -0.99, ${fields}
  indicators: () => ({}),
  signals: (candles) => ({ enterLong: new Uint8Array(candles.timestamp.length).fill(1) }),
};
`;

/** A new folder for strategy files. */
export function strategyFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-strategy-files-'));
  return {
    folder,
    add: (file: string, text: string) => writeFileSync(join(folder, file), text),
    remove: (file: string) => rmSync(join(folder, file)),
  };
}

/** File names of a folder; empty when it does not exist. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
