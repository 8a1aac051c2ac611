import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { hintsOf } from '#adapters/import/hints.ts';
import { importCommand } from '../import-command-fixture.ts';
import { FOREVER, importFixture } from '../import-fixture.ts';
import { optionsOf } from './options-of.ts';
import { VENDOR_FILES } from './vendor-lines.ts';

const PAGE = resolve(import.meta.dirname, '../../../docs/importing.md');
const DAY = 86_400_000;
const T0 = Date.UTC(2025, 2, 1);
/** `| pandas | `GOOG.csv` | `--symbols GOOG/USD --exchange nasdaq` | nasdaq GOOG/USD |` */
const LINE =
  /^\| [^|]+ \| `(?<file>[^`]+)` \| (?:`(?<options>[^`]+)`)? ?\| `(?<exchange>\S+) (?<symbol>\S+)` \|$/gm;

const fixture = importFixture();
const { load } = importCommand(fixture);
const lines = [...readFileSync(PAGE, 'utf8').matchAll(LINE)].map(({ groups }) => groups!);

test('docs/importing.md lists every file of a vendor', () => {
  expect(lines.map(({ file }) => file).sort()).toEqual(Object.keys(VENDOR_FILES).sort());
});

test.each(lines)(
  'the line of $file in docs/importing.md imports it',
  async ({ file, options = '', exchange, symbol }) => {
    fixture.put(file!, VENDOR_FILES[file!]!);
    const { results } = await load(hintsOf(optionsOf(options)), join(fixture.folder, file!));
    expect(results).toMatchObject([{ outcome: 'imported', exchange, symbol, timeframe: '1d', rows: 2 }]);
    const candles = await fixture.store.read(
      { exchange: exchange!, symbol: symbol!, timeframe: '1d' },
      0,
      FOREVER,
    );
    expect(Object.fromEntries(Object.entries(candles).map(([name, column]) => [name, [...column]]))).toEqual({
      timestamp: [T0, T0 + DAY],
      open: [100, 101],
      high: [103, 104],
      low: [99, 100],
      close: [101, 102],
      volume: [10, 20],
    });
  },
);
