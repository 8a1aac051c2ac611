/** Static checks that CI runs before the tests. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { citationProblems } from './citations.ts';
import { functionProblems } from './function-size.ts';
import { importProblems, siblingProblems } from './import-rules.ts';
import { sizeProblems } from './size-budget.ts';

const MAX_ENTRY_LINES = 40;

/** Folders with functions of limited size. */
const CODE = ['bench', 'bin', 'lambdas', 'lib', 'src', 'web'];

interface Check {
  readonly name: string;
  /** Problems, one line each; empty if the check passes. */
  readonly run: () => readonly string[];
}

/** In the order of their cost: what fails soon is said soon. */
const CHECKS: readonly Check[] = [
  { name: 'who may import whom (bin/check/import-rules.ts)', run: importRules },
  {
    name: 'docs/openapi matches the operations table',
    run: () => tool('node', ['bin/generate/openapi.ts', '--check']),
  },
  {
    name: 'touchstone.config.schema.json matches lib/settings/config.ts',
    run: () => tool('node', ['bin/generate/settings-schema.ts', '--check']),
  },
  {
    name: 'package-lock.json names every platform package',
    run: () => tool('node', ['.ci/complete-lockfile.ts', '--check']),
  },
  {
    name: `Lambda entry points of at most ${MAX_ENTRY_LINES} lines`,
    run: () => longerThan(MAX_ENTRY_LINES, ['lambdas']),
  },
  {
    name: 'citations that lead somewhere (bin/check/citations.ts)',
    run: () => citationProblems(sources(['.'])),
  },
  {
    name: 'functions of at most 60 lines and five parameters, or with a reason (bin/check/function-size.ts)',
    run: () =>
      CODE.flatMap((folder) => sources([`${folder}/*.ts`, `${folder}/*.tsx`]).flatMap(functionProblems)),
  },
  { name: 'code within size-budget.json', run: () => sizeProblems(sources(['*.ts', '*.tsx'])) },
  { name: `commands as ${TOUCHSTONE}, which never downloads`, run: downloadingCommands },
  {
    name: 'format and lint (biome)',
    run: () => tool('biome', ['ci', '--colors=off', '.']),
  },
  { name: 'types (tsc)', run: () => tool('tsc', ['-p', '.']) },
  { name: 'dead files, exports and dependencies (knip)', run: () => tool('knip', ['--no-progress']) },
];

function tool(command: string, args: readonly string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) return [`${command} could not be run: ${error.message}`];
  return status === 0 ? [] : `${stdout}${stderr}`.trimEnd().split('\n');
}

function importRules(): string[] {
  const { imports } = JSON.parse(readFileSync('package.json', 'utf8')) as { imports: Record<string, string> };
  const files = sources(['*.ts', '*.tsx']);
  const code = files.filter((file) => !file.startsWith('test/'));
  return [...files.flatMap((file) => importProblems(file, imports)), ...siblingProblems(code, imports)];
}

/** Tracked files. Throws for an empty list, with which a check would pass without checking anything. */
function sources(paths: readonly string[]): string[] {
  const { stdout } = spawnSync('git', ['ls-files', ...paths], { encoding: 'utf8' });
  const files = stdout.split('\n').filter((file) => file !== '' && existsSync(file));
  if (files.length === 0) throw new Error('git lists no sources: the checks need a git checkout');
  return files;
}

function longerThan(most: number, paths: readonly string[]): string[] {
  return sources(paths)
    .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > most)
    .map(({ file, lines }) => `${file} has ${lines} lines`);
}

/** Lines that name the command line without the option: npx would download a package of that name, which is not ours. */
function downloadingCommands(): string[] {
  return sources(['*.md', '*.ts', '*.tsx', '*.html', '*.json', '*.yml', '*.py']).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /npx\s+touchstone/.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
}

let failed = 0;
for (const { name, run } of CHECKS) {
  const started = performance.now();
  const problems = run();
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${name}, ${seconds} s`);
  for (const problem of problems) console.log(`        ${problem}`);
  if (problems.length > 0) failed++;
}
process.exitCode = failed === 0 ? 0 : 1;
