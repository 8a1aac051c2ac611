import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import { openSandbox } from '#adapters/processes/sandbox.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';

const MODULE = join(import.meta.dirname, '../../src/adapters/strategies/fresh-strategy.ts');
const FILES = join(import.meta.dirname, '../../src/adapters/strategies/strategy-files.ts');
const folder = mkdtempSync(join(tmpdir(), 'touchstone-fresh-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

mkdirSync(join(folder, 'shared/deep'), { recursive: true });
const files = {
  'counts.ts': `import { ema } from '#engine/indicators/index.ts';
import { counter } from './shared/memo.ts';
import { deep } from './shared/deep/memo.ts';
let own = 0;
export default { name: 'counts', ema: typeof ema, count: (): unknown[] => [++own, counter(), deep(), ((globalThis as any).memo ??= []).push(1)] };
`,
  'shared/memo.ts': `let calls = 0;
export const counter = (): number => ++calls;
`,
  'shared/deep/memo.ts': `import { counter } from '../memo.ts';
let calls = 10;
export const deep = (): number => ++calls + 100 * counter();
`,
};
for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);

const PROGRAM = `
const { freshStrategy } = await import(${JSON.stringify(MODULE)});
const { load } = freshStrategy(${JSON.stringify(join(folder, 'counts.ts'))});
for (let run = 0; run < 3; run++) {
  const definition = await load();
  console.log(definition.ema, JSON.stringify(definition.count()));
}
const kept = await load();
kept.count();
console.log('kept', JSON.stringify(kept.count()));
`;

type Flags = (args: readonly string[]) => readonly string[];
const SANDBOX: Flags = (args) => args;
/** As the task of a registered image, whose command is fixed. */
const WITHOUT_FLAGS: Flags = (args) =>
  args.filter((arg) => !(SANDBOX_FLAGS as readonly string[]).includes(arg));

/** Runs a program in a sandbox for the strategies of the folder. */
function inSandbox(program: string, flags: Flags) {
  const own = mkdtempSync(join(tmpdir(), 'touchstone-fresh-sandbox-'));
  const { args, environment } = openSandbox(own, { strategies: folder }, compileCache());
  const all = [...flags(args), '--input-type=module', '--eval', program];
  const ended = spawnSync(process.execPath, all, { encoding: 'utf8', env: environment });
  rmSync(own, { recursive: true });
  return ended;
}

/** Runs a strategy file loaded twice and returns its output; `memo` is the expression that holds its counter. */
function loadedTwice(name: string, memo: string, flags = WITHOUT_FLAGS) {
  const file = `${name}.ts`;
  writeFileSync(
    join(folder, file),
    `import { ema } from '#engine/indicators/index.ts';
const memo: number[] = ${memo};
export default { name: '${name}', ema, count: (): number => memo.push(1) };
`,
  );
  const program = `
const { findStrategyFile } = await import(${JSON.stringify(FILES)});
const { definition, load, replaced } = await findStrategyFile('${name}', ${JSON.stringify(folder)});
definition.count();
for (let run = 0; run < 2; run++) console.log((await load()).count());
if (replaced().length > 0) console.log(replaced().join(' '));
`;
  return inSandbox(program, flags);
}

it.each([
  ['of a sandbox', SANDBOX],
  ['without its flags', WITHOUT_FLAGS],
])('strategy %s cannot import a module of a later run', (_, flags) => {
  writeFileSync(join(folder, 'shared/kept.ts'), 'export const box: any = {};');
  const memo = `await (async () => {
  const { box } = await import('./shared/kept.ts');
  if (!box.memo) {
    box.memo = [];
    for (let run = 0; run < 9; run++) (await import('./shared/kept.ts?run=' + run)).box.memo = box.memo;
  }
  return box.memo;
})()`;
  const { stdout, stderr } = loadedTwice('kept', memo, flags);
  expect(stdout + stderr).toBe('1\n1\n');
});

/** Where a strategy may keep its counter. */
const PLACES = [
  ['a global name', '((globalThis as any).memo ??= [])'],
  ['a global symbol', "((globalThis as any)[Symbol.for('memo')] ??= [])"],
  ['Math', '((Math as any).memo ??= [])'],
  ['a prototype', '((Float64Array.prototype as any).memo ??= [])'],
  ['the process', '((process as any).memo ??= [])'],
  ["a class of Node's HTTP client", '(((globalThis as any).Headers ??= class {}).memo ??= [])'],
  ['an indicator', '((ema as any).memo ??= [])'],
  [
    'a replaced function of Math',
    '((Math as any).max.memo ?? ((Math as any).max = Object.assign(() => 0, { memo: [] })).memo)',
  ],
  [
    'a replaced method of a prototype',
    '((Map.prototype as any).get.memo ?? ((Map.prototype as any).get = Object.assign(() => 0, { memo: [] })).memo)',
  ],
  [
    'a replaced accessor',
    "(Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get as any).memo ?? (Object.defineProperty(Map.prototype, 'size', { get: Object.assign(() => 0, { memo: [] as number[] }), configurable: true }), (Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get as any).memo)",
  ],
  [
    'a method of all typed arrays',
    '((Object.getPrototypeOf(Float64Array.prototype)).subarray.memo ?? (Object.getPrototypeOf(Float64Array.prototype).subarray = Object.assign(() => 0, { memo: [] })).memo)',
  ],
] as const;

describe('strategy loaded again', () => {
  it.each(PLACES)('strategy of a sandbox cannot leave state in %s', (_, memo) => {
    const { stdout, stderr } = loadedTwice(`kept${memo.length}`, memo, SANDBOX);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/kept\d+\.ts: (Cannot (add|assign|redefine)|Method %TypedArray%)/);
  });

  it.each(PLACES)('reloaded strategy finds no state that its top level left in %s', (_, memo) => {
    const { stdout, stderr } = loadedTwice(`left${memo.length}`, memo);
    expect([stderr, stdout.trim().split('\n').slice(0, 2)]).toEqual(['', ['1', '1']]);
  });

  it.each([
    ['of a sandbox', SANDBOX],
    ['without its flags', WITHOUT_FLAGS],
  ])('strategy %s that is reloaded does not find its last match of a regular expression', (_, flags) => {
    const memo = "(RegExp as any).$_ === 'kept' ? [1] : (/kept/.exec('kept'), [])";
    expect(loadedTwice('match', memo, flags).stdout).toBe('1\n1\n');
  });

  it('loads name the functions that a strategy replaced, if data of the engine passes through them', () => {
    const kept =
      'Object.assign(function (this: any, ...args: any[]) { return native.apply(this, args); }, { memo: [] })';
    const replacing = (object: string, name: string) =>
      `(() => { const native = (${object} as any).${name}; return ((${object} as any).${name} = ${kept}).memo; })()`;
    const prototype = 'Object.getPrototypeOf(Float64Array.prototype)';
    expect(loadedTwice('math', replacing('Math', 'max')).stdout.trim().split('\n')).toEqual(['1', '1']);
    expect(loadedTwice('subarray', replacing(prototype, 'subarray')).stdout.trim().split('\n')).toEqual([
      '1',
      '1',
      'TypedArray.prototype.subarray',
    ]);
  });

  it('reload fails with the name of state that cannot be removed', () => {
    const fixed = "Object.defineProperty(globalThis, 'memo', { value: [] }).memo";
    const { stdout, stderr } = loadedTwice('fixed', fixed);
    expect(stdout).toBe('');
    expect(stderr).toContain('fixed.ts keeps state in globalThis.memo, which cannot be removed between runs');
  });

  it('reloaded strategy has no state of an earlier run, also in its imports', () => {
    const { stdout, stderr } = inSandbox(PROGRAM, WITHOUT_FLAGS);
    const fresh = 'function [1,1,211,1]';
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual([fresh, fresh, fresh, 'kept [2,3,412,2]']);
  });
});

describe('a source that is not the one of the digest', () => {
  const own = mkdtempSync(join(tmpdir(), 'touchstone-changed-'));
  afterAll(() => rmSync(own, { recursive: true, force: true }));
  /** Loads a strategy that does `change` to a file before it imports it, when the digest was computed. */
  function loadedLate(change: string) {
    writeFileSync(join(own, 'value.ts'), 'export const value = 1;\n');
    mkdirSync(join(own, 'lib'), { recursive: true });
    writeFileSync(join(own, 'lib/late.ts'), 'export const late = 1;\n');
    writeFileSync(
      join(own, 'waits.ts'),
      `(globalThis as any).change();
const { late } = await import('./lib/late.ts');
export default { name: 'waits', late };
`,
    );
    const program = `
import { writeFileSync } from 'node:fs';
const { findStrategyFile } = await import(${JSON.stringify(FILES)});
const late = ${JSON.stringify(join(own, 'lib/late.ts'))};
globalThis.change = () => { ${change} };
const found = await findStrategyFile('waits', ${JSON.stringify(own)}).catch((error) => error);
console.log(found.message ?? found.definition.late);
`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      cwd: join(import.meta.dirname, '../..'),
    });
    return `${ended.stdout}${ended.stderr}`;
  }

  it('is not loaded, also by a late import', () => {
    expect(loadedLate('')).toBe('1\n');
    expect(loadedLate(`writeFileSync(late, 'export const late = 2;')`)).toBe(
      `Strategy file ${join(own, 'waits.ts')}: lib/late.ts changed while the strategy was loaded. Run it again\n`,
    );
  });
});
