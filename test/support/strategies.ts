import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGate, waitAtGate, waitingAt } from './gates.ts';

/** Folder of strategies that misbehave in a task's process. */
export class MisbehavingStrategies {
  readonly folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));

  /** `body` runs in `indicators`. */
  add(name: string, body: string): void {
    writeFileSync(
      join(this.folder, `${name}.ts`),
      `export default {
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

  /** Strategy that waits for {@link open}. */
  addGated(name: string): void {
    this.add(name, waitAtGate(name));
  }

  open(name: string): void {
    void openGate(name, this.folder);
  }

  /** Process IDs of the waiting tasks of the platform with this data folder. */
  begun(name: string, home: string): number[] {
    return waitingAt(name, `${home}/tasks/`);
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
