import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hintsOf } from '#adapters/import/hints.ts';
import { exchangeGrid } from '#domain/data/exchange-grid.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { importCommand } from '../import-command-fixture.ts';
import { FOREVER, importFixture } from '../import-fixture.ts';
import { optionsOf } from './options-of.ts';

/** Invented candles in the layouts of vendors and programs, with the values that must be stored. */
const CASES = join(import.meta.dirname, 'cases');

interface Case {
  readonly path: string;
  readonly options: string;
  readonly refused?: readonly string[];
  readonly exchange: string;
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly rows: number;
  readonly first: number;
  readonly last: number;
  readonly sums: Readonly<Record<string, number>>;
  /** Patterns that the notes match. */
  readonly notes: readonly string[];
}

const cases: Case[] = JSON.parse(readFileSync(join(CASES, 'expected.json'), 'utf8'));
const fixture = importFixture();
const { load } = importCommand(fixture);

async function importCase({ path, options }: Case) {
  const target = join(fixture.folder, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(CASES, path), target, { recursive: true });
  return load(hintsOf(optionsOf(options)), target);
}

describe('files as people have them', () => {
  test.each(cases.filter(({ refused }) => !refused))('$path is imported with "$options"', async (each) => {
    const { results } = await importCase(each);
    const imported = results.filter(({ outcome }) => outcome === 'imported');
    expect(imported, JSON.stringify(results)).toHaveLength(1);
    const { exchange, symbol, timeframe } = each;
    expect(imported).toMatchObject([{ exchange, symbol, timeframe, rows: each.rows }]);
    const { timestamp, ...columns } = await fixture.store.read({ exchange, symbol, timeframe }, 0, FOREVER);
    expect([timestamp.length, timestamp[0], timestamp.at(-1)]).toEqual([each.rows, each.first, each.last]);
    for (const [name, sum] of Object.entries(each.sums)) {
      const total = columns[name as keyof typeof columns].reduce((all, value) => all + value, 0);
      expect(Math.abs(total - sum), name).toBeLessThanOrEqual(1e-9 * Math.abs(sum));
    }
    const said = results.map((result) => JSON.stringify(result)).join('\n');
    for (const note of each.notes) expect(said).toMatch(new RegExp(note));
  });

  test('the candles of 3d open where computed ones of the exchange do', async () => {
    const each = cases.find(({ timeframe }) => timeframe === '3d')!;
    await importCase(each);
    const { timestamp } = await fixture.store.read(each, 0, FOREVER);
    const { next } = exchangeGrid(each.exchange, '3d');
    const opens = [each.first];
    while (opens.at(-1)! < each.last) opens.push(next(opens.at(-1)!));
    expect([...timestamp]).toEqual(opens);
    expect(opens.map(exchangeGrid(each.exchange, '3d').floor)).toEqual(opens);
  });

  test.each(cases.filter(({ refused }) => refused))(
    '$path with "$options" is refused with the reason',
    async (each) => {
      const { results } = await importCase(each);
      expect(results).toHaveLength(1);
      expect(results[0]!.outcome).not.toBe('imported');
      const said = JSON.stringify(results[0]);
      for (const part of each.refused!) expect(said, basename(each.path)).toContain(part);
      expect(said).not.toContain('has no pair and timeframe');
    },
  );
});
