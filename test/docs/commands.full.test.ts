import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeVendorFiles } from '../adapters/vendor-files.ts';
import { zipOf } from '../adapters/zip-fixture.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/**
 * Runs the commands of every page, in the order of the page. The info string of a fence selects the platform:
 *
 *     sh               run against the platform of this file
 *     sh auth          run against a platform that requires a token
 *     sh aws, sh docker, sh network, sh slow    parsed only; runbook-commands.full.test.ts runs those of the runbook
 *
 * Lines that start with `npm` are never run here: their script must exist, and NPM_RUNS has who runs those of the README. `bt-...`, `ho-...` and `ch-...` represent the ID
 * printed last. Strategies in `ts` fences are files of the strategy folder, and
 * `csv` fences are files with the name that ends the line above.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const PARSED_ONLY = ['aws', 'docker', 'network', 'slow'];
const LANGUAGES = ['sh', 'csv', 'json', 'ts', 'text', 'http', 'python'];

/** A `csv` fence with the name of its file. */
const CSV_FILE = /`([\w-]+\.csv)`:\n\n```csv\n([^`]+)```/g;

interface Fence {
  readonly line: number;
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
}

const pagesIn = (directory: string) =>
  readdirSync(join(ROOT, directory))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${directory}/${name}`);

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'strategies/README.md',
  'bench/README.md',
  ...pagesIn('docs'),
  ...pagesIn('docs/decisions'),
];

function fencesOf(page: string): Fence[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [language = '', ...marks] = match[1]!.trim().split(/\s+/);
    return { language, marks, text: match[2]!, line: text.slice(0, match.index).split('\n').length };
  });
}

/** Working directory of the commands: the files that the pages name. */
const folder = mkdtempSync(join(tmpdir(), 'touchstone-docs-'));
let open: TestPlatform;
let authenticated: TestPlatform;
beforeAll(async () => {
  const strategies = join(folder, 'strategies');
  mkdirSync(strategies);
  for (const page of PAGES) {
    for (const { language, text } of fencesOf(page)) {
      const [, name] = /defineStrategy\(\{\s*name: '(\w+)'/.exec(language === 'ts' ? text : '') ?? [];
      if (name) writeFileSync(join(strategies, `${name}.ts`), text);
    }
    for (const [, name, text] of readFileSync(join(ROOT, page), 'utf8').matchAll(CSV_FILE)) {
      writeFileSync(join(folder, name!), text!);
    }
  }
  writeFileSync(
    join(strategies, 'my_strategy.ts'),
    readFileSync(join(ROOT, 'strategies/example_pullback.ts'), 'utf8').replace(
      /name: '\w+'/,
      "name: 'my_strategy'",
    ),
  );
  const futures = join(folder, 'user_data/data/binance/futures');
  mkdirSync(futures, { recursive: true });
  mkdirSync(join(folder, 'candles'));
  const candles = candlesOf(15 * 288);
  writeFileSync(
    join(folder, 'candles/BTC_USDT_USDT-5m.csv'),
    `timestamp_ms,open,high,low,close,volume\n${candles.map((row) => row.join()).join('\n')}\n`,
  );
  writeFileSync(join(futures, 'ETH_USDT_USDT-5m-futures.json'), JSON.stringify(candles));
  const klines = join(folder, 'downloads/data/spot/monthly/klines/ETHBTC/1m');
  mkdirSync(klines, { recursive: true });
  const content = '1740787200000000,1,2,0.5,1.5,10,1740787259999999,5,3,1,2,0\n';
  const zip = zipOf([{ name: 'ETHBTC-1m-2025-03.csv', content }]);
  for (const place of [klines, folder]) writeFileSync(join(place, 'ETHBTC-1m-2025-03.zip'), zip);
  writeVendorFiles(folder);
  writeFileSync(
    join(folder, 'trades.csv'),
    'trade_id,variant,profit_pct\nt-1,champion,0.4\nt-2,challenger,0.7\n',
  );
  const platform = (auth: boolean) =>
    startTestPlatform({ home: join(folder, auth ? 'auth' : 'home'), strategiesDirectory: strategies, auth });
  [open, authenticated] = await Promise.all([platform(false), platform(true)]);
});
afterAll(async () => {
  await Promise.all([open?.stop(), authenticated?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Five-minute candles of 2026-01-01 and later. */
function candlesOf(count: number): number[][] {
  return Array.from({ length: count }, (_, i) => {
    const price = 100 + 10 * Math.sin(i / 40);
    return [Date.UTC(2026, 0, 1) + i * 300_000, price, price + 1, price - 1, price + 0.5, 10];
  });
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script in bash; `parse` only checks its syntax. */
function bash(script: string, environment: Readonly<Record<string, string>>, parse = false): Promise<Ended> {
  const child = spawn('bash', [...(parse ? ['-n'] : []), '-s'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1', ...environment },
  });
  child.stdin.end(script);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

/** Defines `npx --no-install touchstone` as the program of this repository; `last bt` prints the last printed ID of that kind. */
const PRELUDE = `set -euo pipefail
npx() {
  [ "$1" = --no-install ] || { echo "npx $1 may download a package" >&2; return 1; }
  shift
  [ "$1" = touchstone ] || { echo "npx $1 is not run here" >&2; return 1; }
  shift; "$NODE" "$ROOT/bin/touchstone.ts" "$@" | tee -a "$OUTPUT"
}
last() { grep -oE "\\b$1-[0-9A-Z]{26}\\b" "$OUTPUT" | tail -1; }
`;

function environmentOf({ home }: TestPlatform): Record<string, string> {
  return {
    NODE: process.execPath,
    ROOT,
    TOUCHSTONE_HOME: home,
    STRATEGIES_DIRECTORY: join(folder, 'strategies'),
  };
}

/** The commands of a fence with the addresses and IDs of this run. */
function scriptOf(text: string, { info }: TestPlatform): string {
  const ports = { 8000: info.backend_url, 8002: info.data_collection_url, 8003: info.strategy_service_url };
  return text
    .replaceAll(/^npm .*$/gm, '')
    .replaceAll(
      /(?:127\.0\.0\.1|localhost):(8000|8002|8003)/g,
      (_, port: '8000') => new URL(ports[port]).host,
    )
    .replaceAll(/\b(bt|ho|ch)-(?:\.\.\.|…)/g, '$(last $1)');
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Names of the npm scripts in a fence; `ci` for `npm ci`. */
const npmScriptsOf = (text: string) =>
  [...text.matchAll(/(?:^|&& )npm (?:run )?([\w:-]+)/gm)].map(([, name]) => name!);

/** File that runs an npm command of the README, and its text there: CI, or a test that starts the same program. */
const NPM_RUNS: Readonly<Record<string, readonly [file: string, text: string]>> = {
  ci: ['.ci/run', 'npm ci'],
  test: ['.ci/run', 'for step in test '],
  i: ['test/package/install.full.test.ts', "['i', archive"],
  package: ['test/package/install.full.test.ts', "'npm', ['pack'"],
  cost: ['test/stacks/cost.test.ts', "'bin/operate/cost.ts'"],
  demo: ['test/e2e/cli.test.ts', "run('bin/demo.ts')"],
  start: ['test/e2e/auth.full.test.ts', "'bin/local.ts'"],
};

test('a test or CI runs each npm command of the README', () => {
  const names = new Set(fencesOf('README.md').flatMap(({ text }) => npmScriptsOf(text)));
  expect([...names].sort()).toEqual(Object.keys(NPM_RUNS).sort());
  for (const [name, [file, text]] of Object.entries(NPM_RUNS)) {
    expect(readFileSync(join(ROOT, file), 'utf8'), name).toContain(text);
    const [, program] = /'(bin\/[\w/]+\.ts)'/.exec(text) ?? [];
    if (program) expect(scripts[name]).toBe(`node ${program}`);
  }
});

// One page after the other: they share a platform, and `last` is its newest job.
describe.each(PAGES)('%s', (page) => {
  const fences = fencesOf(page);

  test('fences have a known language and known marks', () => {
    for (const { language, marks, line } of fences) {
      expect(LANGUAGES, `${page}:${line}`).toContain(language);
      for (const mark of marks) expect([...PARSED_ONLY, 'auth'], `${page}:${line}`).toContain(mark);
    }
  });

  const commands = fences.filter(({ language }) => language === 'sh');
  test.runIf(commands.length > 0)('commands succeed', async () => {
    const OUTPUT = join(folder, `${page.replaceAll('/', '-')}.txt`);
    let exported = '';
    for (const { text, marks, line } of commands) {
      for (const name of npmScriptsOf(text)) {
        expect([...Object.keys(scripts), 'ci', 'i', 'install'], `${page}:${line}`).toContain(name);
      }
      const isParsed = marks.some((mark) => PARSED_ONLY.includes(mark));
      const platform = marks.includes('auth') ? authenticated : open;
      const script = `${PRELUDE}${exported}${scriptOf(text, platform)}`;
      const { code, output } = await bash(script, { ...environmentOf(platform), OUTPUT }, isParsed);
      expect(code, `${page}:${line}\n${text}\n${output}`).toBe(0);
      if (!isParsed)
        exported +=
          text
            .match(/^export .*$/gm)
            ?.map((each) => `${each}\n`)
            .join('') ?? '';
    }
  });
});
