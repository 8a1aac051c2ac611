/** Changes the code at one place at a time and shows which test notices: `npm run mutants`. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { importersOf, isSlow, testsOf } from './importers.ts';
import { choose, find, type Mutant, mutantsOf, mutate, type Place } from './places.ts';

const USAGE = `npm run mutants -- [--seed <n>] [--from <file>] [--only <n,m>] [--tests <n>] [--whole] [--save <file>] [--list]
  --seed   chooses the mutants; default 1
  --from   takes those of a saved list instead, where their lines are now
  --only   takes only these numbers of the list
  --tests  runs at most so many test files against a mutant; default all that import its file
  --whole  then runs npm test against a mutant that survived these
  --save   writes the list with the results
  --list   shows the list and runs nothing`;

const COUNT = 60;
const MUTATED = /^src\/(adapters|domain|engine)\/.*\.ts$/;
/** Test files of the first runs against a mutant: most die in the first. */
const ROUNDS = [4, 16];
/** What a run may take, and each of its files in addition. An endless loop is a kill that takes as long. */
const RUN_LIMIT_MS = 60_000;
const FILE_LIMIT_MS = 30_000;
const WHOLE_LIMIT_MS = 3_600_000;

interface Saved extends Place {
  readonly number: number;
  readonly result?: string;
}

/** The test file that failed, if one did, and its first failed test or what else ended the run. */
interface Failure {
  readonly file?: string;
  readonly how: string;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({
  options: {
    seed: text,
    from: text,
    only: text,
    tests: text,
    save: text,
    whole: flag,
    list: flag,
    help: flag,
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}

const folder = fs.mkdtempSync(join(tmpdir(), 'touchstone-mutants-'));
const tree = join(folder, 'tree');
const read = (file: string) => fs.readFileSync(file, 'utf8');
const listed = output('git', ['ls-files', '-co', '--exclude-standard']).split('\n').filter(fs.existsSync);
const sources = new Map(listed.filter((file) => /\.[cm]?tsx?$/.test(file)).map((file) => [file, read(file)]));
const importers = importersOf(sources, JSON.parse(read('package.json')).imports);
const mutants = [...sources].flatMap(([file, source]) => (MUTATED.test(file) ? mutantsOf(file, source) : []));
/** Whether a test file passes without a mutant: one that does not proves nothing. */
const passes = new Map<string, boolean>();
let running: ChildProcess | undefined;
process.on('exit', () => {
  killRunning();
  fs.rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const list: Saved[] = values.from
  ? JSON.parse(read(values.from))
  : choose(mutants, COUNT, Number(values.seed ?? 1)).map((place, index) => ({ number: index + 1, ...place }));
const only = values.only?.split(',').map(Number);
if (!values.list) copyTree();
const rows: object[] = [];
const relapses: number[] = [];
for (const [index, place] of list.entries()) {
  if (only && !only.includes(place.number)) continue;
  const mutant = find(place, mutants);
  const at = mutant ? `${mutant.file}:${mutant.line}` : place.file;
  console.log(`${place.number} ${at} ${place.kind}: ${place.before} -> ${place.after}\n    ${place.text}`);
  if (values.list) continue;
  const result = mutant ? await judge(mutant) : 'NO LONGER EXISTS';
  console.log(`    ${result}${place.result ? `\n    before: ${place.result}` : ''}`);
  rows.push({ number: place.number, at, kind: place.kind, result });
  if (place.result?.startsWith('killed') && result.startsWith('SURVIVED')) relapses.push(place.number);
  list[index] = { ...place, result };
  if (values.save) save(values.save);
}
if (values.save) save(values.save);
if (!values.list) console.table(rows);
if (relapses.length > 0) console.log(`Killed before, survived now: ${relapses.join(', ')}`);
process.exit(relapses.length > 0 ? 1 : 0);

function save(file: string): void {
  const fields = ['number', 'file', 'kind', 'before', 'after', 'text', 'previous', 'nth', 'result'];
  const lines = list.map((place) => JSON.stringify(place, fields));
  fs.writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}

/** Clones the repository, with what is not committed and with links to the packages, but without caches: they would keep mutants. */
function copyTree(): void {
  output('git', ['clone', '-q', '--shared', '.', tree]);
  for (const file of listed) fs.cpSync(file, join(tree, file));
  const packages = join(tree, 'node_modules');
  output('cp', ['-al', resolve('node_modules'), packages]);
  const caches = fs.readdirSync(packages).filter((name) => name.startsWith('.') && name !== '.bin');
  for (const name of caches) fs.rmSync(join(packages, name), { recursive: true });
  if (fs.existsSync('../shared')) fs.symlinkSync(resolve('../shared'), join(folder, 'shared'));
}

/** What the tests make of a mutant, in words. */
async function judge(mutant: Mutant): Promise<string> {
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  const tests = testsOf(mutant.file, importers).slice(0, values.tests ? Number(values.tests) : undefined);
  for (let from = 0, round = 0; from < tests.length; round++) {
    const files = tests.slice(from, from + (ROUNDS[round] ?? tests.length));
    const killer = await killerOf(mutant, files, RUN_LIMIT_MS + files.length * FILE_LIMIT_MS);
    if (killer) return `killed in ${seconds()}: ${killer}`;
    from += files.length;
  }
  const killer = values.whole && (await killerOf(mutant, ['--project', '!full'], WHOLE_LIMIT_MS));
  if (killer) return `killed in ${seconds()} by the whole run: ${killer}`;
  return `SURVIVED ${tests.length} test files${values.whole ? ' and the whole run' : ''} in ${seconds()}`;
}

/** The test that fails with the mutant, again if it is slow, and passes without it. */
async function killerOf(mutant: Mutant, args: readonly string[], limit: number): Promise<string | undefined> {
  const unsteady = new Set<string>();
  for (;;) {
    const isOut = (arg: string) => unsteady.has(arg) || passes.get(arg) === false;
    const tried = args.filter((arg) => !isOut(arg));
    if (tried.length === 0) return undefined;
    tried.push(...[...unsteady, ...passes.keys()].filter(isOut).map((file) => `--exclude=${file}`));
    const failure = await runMutant(mutant, tried, limit);
    if (!failure) return undefined;
    if (failure.file === undefined) return (await run(tried, limit)) ? undefined : failure.how;
    const { file } = failure;
    if (!passes.has(file)) passes.set(file, !(await run([file], limit)));
    const isSteady = !isSlow(file) || (await runMutant(mutant, [file], limit)) !== undefined;
    if (passes.get(file) && isSteady) return `${file}: ${failure.how}`;
    console.log(`    ${file} failed${passes.get(file) ? ' once' : ', and fails without a mutant'}`);
    unsteady.add(file);
  }
}

async function runMutant(
  mutant: Mutant,
  args: readonly string[],
  limit: number,
): Promise<Failure | undefined> {
  const [path, source] = [join(tree, mutant.file), sources.get(mutant.file)!];
  fs.writeFileSync(path, mutate(source, mutant));
  const failure = await run(args, limit);
  fs.writeFileSync(path, source);
  return failure;
}

/** Runs tests up to the first failure; undefined when all pass. */
async function run(args: readonly string[], limit: number): Promise<Failure | undefined> {
  const report = join(folder, 'report.json');
  fs.rmSync(report, { force: true });
  const options = ['run', '--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`];
  const command = ['node_modules/vitest/vitest.mjs', ...options, ...args];
  running = spawn(process.execPath, command, { cwd: tree, detached: true, stdio: 'ignore' });
  const timer = setTimeout(killRunning, limit);
  const [status, signal] = await once(running, 'exit');
  clearTimeout(timer);
  killRunning();
  if (status === 0) return undefined;
  if (signal) return { how: `timed out after ${limit / 1000} s` };
  const results = fs.existsSync(report) ? JSON.parse(read(report)).testResults : [];
  const failures: Failure[] = results.flatMap(({ name, status, message, assertionResults }: any) => {
    const test = assertionResults.find((each: any) => each.status === 'failed');
    // Without a failed test, a file that did not load has a message. Files that were not run any more have neither.
    const how = test?.fullName ?? message.split('\n')[0];
    return status === 'failed' && how ? [{ file: relative(tree, name), how }] : [];
  });
  return failures[0] ?? { how: 'an error outside of the tests' };
}

/** Ends the run with the processes that its tests started. */
function killRunning(): void {
  try {
    if (running?.pid) process.kill(-running.pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

function output(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
