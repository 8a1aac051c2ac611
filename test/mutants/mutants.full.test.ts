import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { importersOf, testsOf } from './importers.ts';
import { choose, find, type Mutant, mutantsOf, mutate } from './places.ts';

const SOURCE = `type Level = 1 | -2 | true;

export const BOUNDS = { 5: 1_000, open: false };

export function clamp(value: number): number {
  if (value >= 10) return 10;
  log(value);
  return value === 3 ? -3 : value;
}
if (BOUNDS.open) {
  log(1);
} else {
  log(2);
}
`;
const FILE = 'src/engine/clamp.ts';
const found = mutantsOf(FILE, SOURCE);
const shown = ({ kind, line, before, after }: Mutant) => `${line} ${kind}: ${before} -> ${after}`;

describe('mutants of a source', () => {
  test('are its comparisons, constants and single statements, without types', () => {
    expect(found.map(shown).sort()).toEqual([
      '11 constant: 1 -> 2',
      '11 drop: log(1); -> ;',
      '13 constant: 2 -> 3',
      '13 drop: log(2); -> ;',
      '3 constant: 1_000 -> 1001',
      '3 constant: 5 -> 6',
      '3 constant: false -> true',
      '6 compare: >= -> >',
      '6 constant: 10 -> 11',
      '6 constant: 10 -> 11',
      '6 drop: if (value >= 10) return 10; -> ;',
      '7 drop: log(value); -> ;',
      '8 compare: === -> !==',
      '8 constant: 3 -> 4',
      '8 constant: 3 -> 4',
    ]);
  });

  test('change one place each, and parse', () => {
    const changed = found.map((mutant) => mutate(SOURCE, mutant));
    expect(new Set([SOURCE, ...changed]).size).toBe(found.length + 1);
    expect(changed.flatMap((source) => parseSync(FILE, source).errors)).toEqual([]);
  });
});

describe('choice of mutants', () => {
  const rest = ['adapters', 'domain'].flatMap((layer) => mutantsOf(`src/${layer}/clamp.ts`, SOURCE));

  test('depends on the seed, and takes each layer and kind equally', () => {
    const chosen = choose([...found, ...rest], 9, 1);
    expect(new Set(chosen.map(({ file, kind }) => `${file} ${kind}`)).size).toBe(9);
    expect(choose([...rest, ...found], 9, 1)).toEqual(chosen);
    expect(choose([...found, ...rest], 9, 2)).not.toEqual(chosen);
  });

  test('stays when lines move and other files appear', () => {
    const moved = mutantsOf(FILE, `// A comment.\n\n${SOURCE}`);
    const others = mutantsOf('src/domain/other.ts', SOURCE);
    const chosen = choose([...moved, ...others], 12, 1).filter(({ file }) => file === FILE);
    const places = (mutants: readonly Mutant[]) => mutants.map(({ line, start, end, ...place }) => place);
    expect(places(chosen)).toEqual(places(choose(found, 6, 1)));
  });
});

describe('a saved mutant', () => {
  const second = found.findLast(({ before }) => before === '10')!;

  test('is found after the lines around it changed', () => {
    const changed = SOURCE.replace('  if (', '  check(value);\n  if (');
    const again = find(second, mutantsOf(FILE, changed))!;
    expect(mutate(changed, again)).toBe(changed.replace('return 10', 'return 11'));
  });

  test('is found in another file if its line is in one only', () => {
    const a = mutantsOf('src/engine/a.ts', SOURCE);
    expect(find(second, a)).toMatchObject({ file: 'src/engine/a.ts', nth: 1, line: 6 });
    expect(find(second, [...a, ...mutantsOf('src/engine/b.ts', SOURCE)])).toBeUndefined();
  });

  test('is not found when its line is gone', () => {
    expect(find(second, mutantsOf(FILE, SOURCE.replace('return 10', 'return BOUNDS[5]')))).toBeUndefined();
  });
});

test('tests that load a file begin with those of its name and the nearest, and end with full and slow ones', () => {
  const sources = {
    'src/engine/a.ts': '',
    'src/engine/b.ts': "import { a } from './a.ts';",
    'src/domain/c.ts': "const c = lazy(() => import('#engine/b.ts'));",
    'src/domain/child.ts': "export * from '#engine/a.ts';",
    'src/domain/starts.ts': "export type Kind = 1;\nfork(codeFile('./child', import.meta.url));",
    'test/e2e/near.test.ts': "import { a } from '#engine/a.ts';",
    'test/engine/full.full.test.ts': "import { a } from '#engine/a.ts';",
    'test/engine/far.test.ts': "import { c } from '../../src/domain/c.ts';",
    'test/engine/near.test.ts': "import { b } from '#engine/b.ts';",
    'test/engine/of-a.test.ts': "import '#domain/starts.ts';",
    'test/engine/types.test.ts': "import type {\n  A,\n} from '#engine/a.ts';",
  };
  const aliases = { '#engine/*': './src/engine/*', '#domain/*': './src/domain/*' };
  expect(testsOf('src/engine/a.ts', importersOf(new Map(Object.entries(sources)), aliases))).toEqual([
    'test/engine/of-a.test.ts',
    'test/engine/near.test.ts',
    'test/engine/far.test.ts',
    'test/engine/full.full.test.ts',
    'test/e2e/near.test.ts',
  ]);
});
