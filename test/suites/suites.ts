import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tests and commands that take minutes and depend on a part of the sources: they run again when that part differs from what passed. */
export interface Suite {
  readonly name: string;
  /** What it proves, for the line that says that it was skipped. */
  readonly proves: string;
  /** Patterns of test files. */
  readonly tests: readonly string[];
  /** Commands that have to succeed too, as `npm exec` takes them. */
  readonly commands: readonly (readonly string[])[];
  /** Files and folders that it tests, its own tests and the versions of its tools. */
  readonly sources: readonly string[];
}

const ROOT = join(import.meta.dirname, '../..');
/** Written by `run.ts` alone, after a suite has passed. */
export const PASSES_FILE = join(import.meta.dirname, 'passed.json');

/** All that a stack is made of: its templates, bundles and images, and the pages that name its figures. */
const STACKS = [
  'bin',
  'cdk.json',
  'deploy',
  'docs',
  'lambdas',
  'lib',
  'package-lock.json',
  'package.json',
  'src',
  'statemachines',
  'strategies',
  'templates',
  'touchstone.config.json',
  'web',
];

const synth = (stage: string) => {
  const config = 'config=docs/examples/three-accounts.json';
  return ['cdk', 'synth', '--quiet', '--context', `stage=${stage}`, '--context', config];
};

export const SUITES: readonly Suite[] = [
  {
    name: 'stacks',
    proves:
      'templates, permissions, alarms, costs and bundles of the stacks, and that every stage synthesizes',
    // The image is built where buildah is, which few machines have: its test decides for itself.
    tests: ['test/stacks/!(emulator|image.full).test.ts'],
    commands: ['dev', 'test', 'prod'].map(synth),
    sources: [...STACKS, 'test/stacks', 'test/support'],
  },
  {
    name: 'emulator',
    proves: 'deployment, change, restore, teardown and a loss of the region in an emulator of AWS',
    tests: ['test/stacks/emulator.test.ts'],
    commands: [['node', 'test/rehearsal/run.ts', '--complete']],
    sources: [...STACKS, 'test/rehearsal', 'test/stacks/emulator.test.ts', 'test/support'],
  },
  {
    name: 'generators',
    proves: 'that generated clients of six languages compile and call the platform',
    tests: ['test/generators/*.full.test.ts'],
    commands: [],
    sources: ['docs/openapi', 'src/contract', 'test/generators', 'test/support'],
  },
  {
    name: 'freqtrade',
    proves: 'that freqtrade itself still trades as it was recorded, and as new random scenarios do',
    tests: ['test/engine/simulator/freqtrade/*.full.test.ts'],
    commands: [],
    sources: ['bench/support/freqtrade/requirements.txt', 'src/engine', 'test/engine/simulator'],
  },
];

/** The last pass of a suite. */
interface Pass {
  readonly digest: string;
  readonly date: string;
}

/** Passes by the name of their suite. */
export type Passes = Readonly<Record<string, Pass>>;

export const readPasses = (): Passes => JSON.parse(readFileSync(PASSES_FILE, 'utf8'));

/** Digest of the paths and contents of a suite's sources, without what git ignores; undefined outside of a git repository. */
export function digestOf({ sources }: Pick<Suite, 'sources'>, root = ROOT): string | undefined {
  const files = filesOf(sources, root);
  if (!files) return undefined;
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

function filesOf(sources: readonly string[], root: string): string[] | undefined {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...sources];
  try {
    const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).split('\0');
    return [...new Set(files)].filter((file) => file !== '' && existsSync(join(root, file))).sort();
  } catch {
    return undefined;
  }
}

/** The pass of a suite on these very sources; undefined when they differ from what passed last. */
export function passOf(suite: Suite, passes = readPasses()): Pass | undefined {
  const pass = passes[suite.name];
  return pass !== undefined && pass.digest === digestOf(suite) ? pass : undefined;
}

/** Says that a suite is not run, and how to run it. */
export const skipLine = ({ name, proves }: Suite, { date }: Pass) =>
  `Skipped: ${name} (${proves}). Its sources are those that passed on ${date}; npm run suites -- ${name} runs it.`;
