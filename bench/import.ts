import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { output, pythonWith } from '../test/support/python.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const DRIVER = join(import.meta.dirname, 'support/import-driver.py');
const TOUCHSTONE = join(import.meta.dirname, '../bin/touchstone.cjs');
const ROWS = scaled(2_000_000, 50_000);
const MORE_ROWS = scaled(6_000_000, 100_000);
const RUNS = scaled(5);
/** The candles end before today. */
const START = Date.UTC(2012, 0, 1);
const LINES_AT_ONCE = 10_000;

interface Usage {
  readonly cpu_s: number;
  readonly peak_mb: number;
}

/** Writes candles of 1m as CSV. @param digits after the point; absent: all of the double */
function writeCsv(path: string, rows: number, digits?: number): void {
  const { timestamp, open, high, low, close, volume } = randomCandles(1, rows, '1m');
  const columns = [open, high, low, close, volume];
  const text = (value: number) => (digits === undefined ? String(value) : value.toFixed(digits));
  const file = openSync(path, 'w');
  writeSync(file, 'timestamp,open,high,low,close,volume\n');
  for (let from = 0; from < rows; from += LINES_AT_ONCE) {
    let lines = '';
    for (let row = from; row < Math.min(rows, from + LINES_AT_ONCE); row++) {
      const values = columns.map((column) => text(column[row]!)).join();
      lines += `${timestamp[row]! - CANDLES_START + START},${values}\n`;
    }
    writeSync(file, lines);
  }
  closeSync(file);
}

/** One import into a new data folder, on one core. */
async function importOnce(python: string, folder: string, csv: string): Promise<Usage> {
  const home = await mkdtemp(join(folder, 'home-'));
  const command = [
    process.execPath,
    TOUCHSTONE,
    'import',
    csv,
    '--symbols',
    'BTC/USDT:USDT',
    '--timeframe',
    '1m',
  ];
  const measured = await output(python, [DRIVER, 'measure', 'taskset', '--cpu-list', '0', ...command], {
    env: { TOUCHSTONE_HOME: home },
  });
  await rm(home, { recursive: true, force: true });
  return JSON.parse(measured) as Usage;
}

/** What imports the file and, where it is installed, pandas. */
interface Rivals {
  readonly folder: string;
  readonly python: string;
  readonly hasPandas: boolean;
}

async function compare(label: string, { folder, python, hasPandas }: Rivals, csv: string) {
  const ours: Usage[] = [];
  const theirs: number[] = [];
  for (let run = -1; run < RUNS; run++) {
    const usage = await importOnce(python, folder, csv);
    // The first import fills Node's compile cache.
    if (run < 0) continue;
    ours.push(usage);
    if (!hasPandas) continue;
    const calls = [DRIVER, 'pandas', csv, join(folder, 'pandas.parquet')];
    theirs.push((JSON.parse(await output('taskset', ['--cpu-list', '0', python, ...calls])) as Usage).cpu_s);
  }
  const [own, other] = [median(ours.map(({ cpu_s }) => cpu_s)), median(theirs)];
  const load = `load average ${loadavg()[0]!.toFixed(1)}`;
  const ratio = {
    value: own / other,
    unit: 'x pandas',
    target: { atMost: 2 },
    detail: `${own.toFixed(2)} s, pandas ${other.toFixed(2)} s; ${load}`,
  };
  return [
    { label: `${label}: processor time`, ...(hasPandas ? ratio : { value: own, unit: 's', detail: load }) },
    memoryOf(label, Math.max(...ours.map(({ peak_mb }) => peak_mb))),
  ];
}

const memoryOf = (label: string, peakMb: number): Measurement => ({
  label: `${label}: memory of all processes`,
  value: peakMb,
  unit: 'MB',
  target: { atMost: 500 },
});

export default {
  name: 'import',
  description: `\`touchstone import\` of a CSV with ${ROWS.toLocaleString('en')} candles of 1m as a whole command, compared with \`read_csv\` and \`to_parquet\` of pandas in turns; processor time of all processes (medians of ${RUNS} runs)`,
  async run() {
    if (process.platform !== 'linux') {
      console.log('import: not measured: this needs Linux');
      return [];
    }
    const found = await pythonWith('bench/support/import-requirements.txt');
    if ('missing' in found) console.log(`import: no comparison: ${found.missing}`);
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const hasPandas = 'python' in found;
    const rivals = { folder, hasPandas, python: hasPandas ? found.python : 'python3' };
    const csv = join(folder, 'candles.csv');
    try {
      writeCsv(csv, ROWS, 2);
      const rows = await compare('prices of two decimals', rivals, csv);
      writeCsv(csv, ROWS);
      rows.push(...(await compare('doubles of up to 17 digits', rivals, csv)));
      writeCsv(csv, MORE_ROWS, 2);
      const { peak_mb } = await importOnce(rivals.python, folder, csv);
      return [...rows, memoryOf(`${MORE_ROWS.toLocaleString('en')} rows`, peak_mb)];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
