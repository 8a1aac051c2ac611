/**
 * Runs suites whole and records those that passed: `npm run suites -- [name…] [--if-changed]`. What passed belongs into the commit.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { digestOf, PASSES_FILE, passOf, readPasses, SUITES, type Suite, skipLine } from './suites.ts';

const NAMES = SUITES.map(({ name }) => name);

const USAGE = `npm run suites -- [name…] [--if-changed]
  name          ${NAMES.join(', ')}; default all
  --if-changed  skip what passed on the present sources, and its tests: npm test and npm run test:full have run these`;

/** A rehearsal that lacks something exits so, with --complete. */
const INCOMPLETE = 3;

type Result = 'passed' | 'failed' | 'incomplete';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'if-changed': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});
const isWrong = positionals.some((name) => !NAMES.includes(name));
if (values.help || isWrong) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const wanted = positionals.length > 0 ? SUITES.filter(({ name }) => positionals.includes(name)) : SUITES;
for (const suite of wanted) {
  const pass = values['if-changed'] ? passOf(suite) : undefined;
  if (pass) {
    console.log(skipLine(suite, pass));
    continue;
  }
  const digest = digestOf(suite);
  const results = suite.commands.map(runCommand);
  if (!values['if-changed'] && !results.includes('failed')) results.push(runTests(suite));
  if (results.includes('failed')) process.exitCode = 1;
  if (values['if-changed']) continue;
  report(suite, results, digest);
}

function runCommand(command: readonly string[]): Result {
  const { status } = spawnSync('npm', ['exec', '--no', '--', ...command], { stdio: 'inherit' });
  return status === 0 ? 'passed' : status === INCOMPLETE ? 'incomplete' : 'failed';
}

/** Runs the tests of a suite. Incomplete when one was skipped, because a tool is missing. */
function runTests({ tests }: Suite): Result {
  const work = mkdtempSync(join(tmpdir(), 'touchstone-suite-'));
  const outputFile = join(work, 'report.json');
  const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`];
  const { status } = spawnSync(
    'npm',
    ['exec', '--no', '--', 'vitest', 'run', ...options, ...globSync([...tests])],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) return 'failed';
  const { numPendingTests, numPassedTests } = JSON.parse(readFileSync(outputFile, 'utf8'));
  rmSync(work, { recursive: true });
  return numPendingTests === 0 && numPassedTests > 0 ? 'passed' : 'incomplete';
}

/** Records a pass, unless the sources changed while the suite ran. */
function report({ name, ...suite }: Suite, results: readonly Result[], before: string | undefined): void {
  const bad = results.find((result) => result !== 'passed');
  const digest = digestOf(suite);
  if (bad === 'failed') console.error(`FAILED ${name}`);
  else if (bad)
    console.log(`${name} is not recorded: this machine lacks a tool, so that a part was skipped.`);
  else if (digest === undefined || digest !== before)
    console.log(`${name} is not recorded: its sources changed while it ran, or this is no git repository.`);
  else {
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(PASSES_FILE, `${JSON.stringify({ ...readPasses(), [name]: { digest, date } }, null, 2)}\n`);
    console.log(`${name} passed, which ${PASSES_FILE} says now.`);
  }
}
