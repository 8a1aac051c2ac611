import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, expect, test } from 'vitest';

const CODE_CACHE = pathToFileURL(join(import.meta.dirname, '../../src/runtime/code-cache.ts')).href;
/** V8 compiles `later` at its first call. Node keeps the modules that it has compiled itself in `require.cache`. */
const PROGRAM = `
const later = (value) => value + 1;
exports.run = () => ({ answer: later(40), fromCode: require.cache[__filename] === undefined });
`;

const folder = mkdtempSync(join(tmpdir(), 'touchstone-code-cache-'));
const program = join(folder, 'program.cjs');
const cache = join(folder, 'program.cache');
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a statement in a new process with the functions of the code cache. */
function inProcess(statement: string, flags: readonly string[] = []) {
  const text = `import { hasCode, loadProgram, recordProgram } from ${JSON.stringify(CODE_CACHE)};
    const program = ${JSON.stringify(program)}; ${statement}`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', text],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return { status, output: stdout.trim() };
}

const run = (flags?: readonly string[]) =>
  JSON.parse(inProcess('console.log(JSON.stringify(loadProgram(program).run()))', flags).output);
const hasCode = () => JSON.parse(inProcess('console.log(hasCode(program))').output);
const record = () => inProcess('recordProgram(program).run(); process.exit()');

function change(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  writeFileSync(file, bytes);
}

beforeEach(() => {
  rmSync(cache, { force: true });
  writeFileSync(program, PROGRAM);
});

test('program without a code cache runs as a module', () => {
  expect([hasCode(), run()]).toEqual([false, { answer: 41, fromCode: false }]);
});

test('recorded program runs from its code cache and leaves no other file', () => {
  record();
  expect([hasCode(), run()]).toEqual([true, { answer: 41, fromCode: true }]);
  expect(readdirSync(folder).sort()).toEqual(['program.cache', 'program.cjs']);
});

test('code cache contains functions that the run has called', () => {
  const size = (statement: string) => {
    rmSync(cache, { force: true });
    inProcess(statement);
    return readFileSync(cache).length;
  };
  const loaded = size('recordProgram(program); process.exit()');
  expect(size('recordProgram(program).run(); process.exit()')).toBeGreaterThan(loaded);
});

test.each([
  ['another version of V8 or processor', () => change(cache, 0)],
  ['a damaged byte', () => change(cache, -1)],
  ['a damaged checksum', () => change(cache, 5)],
  ['a file that was cut', () => writeFileSync(cache, readFileSync(cache).subarray(0, -8))],
  ['an empty file', () => writeFileSync(cache, '')],
])('code cache of %s is ignored', (_, damage) => {
  record();
  damage();
  expect([hasCode(), run()]).toEqual([false, { answer: 41, fromCode: false }]);
});

test('code cache of a program that has changed is ignored', () => {
  record();
  writeFileSync(program, PROGRAM.replace('+ 1', '+ 2'));
  expect(run()).toEqual({ answer: 42, fromCode: false });
});

test('code cache is ignored by a process with other V8 flags', () => {
  record();
  expect(run(['--no-turbofan'])).toEqual({ answer: 41, fromCode: false });
});

test('process that fails records nothing', () => {
  const { status } = inProcess('recordProgram(program).run(); process.exit(1)');
  expect([status, hasCode()]).toEqual([1, false]);
});
