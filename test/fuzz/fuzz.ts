import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wholeDocument } from './document.ts';
import { prepare, SECRET } from './prepare.ts';
import { startTarget, type Target } from './target.ts';

const HERE = import.meta.dirname;
export const REQUIREMENTS = 'test/fuzz/requirements.txt';

/** Allowed growth of the platform's memory during a run, MB. */
const MEMORY_GROWTH_MB = 400;

interface FuzzOptions {
  readonly seed: number;
  /** Time of the requests, which all of it is used for. Without it the examples are sent once, however long a busy machine takes. */
  readonly seconds?: number;
  /** Requests per operation and phase, as far as the budget allows. */
  readonly examples: number;
  readonly phases: string;
  /** Only the operation with this id. */
  readonly operation?: string | undefined;
}

export interface FuzzResult {
  /** True if nothing was found. */
  readonly passed: boolean;
  /** Report of schemathesis. */
  readonly report: string;
  /** Operation -> status -> number of responses. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Starts a platform, puts something of each kind into it, and lets schemathesis send requests to it. */
export async function fuzzPlatform(bin: string, auth: boolean, options: FuzzOptions): Promise<FuzzResult> {
  const target = await startTarget(auth);
  try {
    const prepared = await prepare(target.bases, target.tokens?.users.ann.admin);
    return await schemathesis(bin, target, await wholeDocument(target.bases), prepared, options);
  } finally {
    await target.stop();
  }
}

/** Runs schemathesis with the hooks. `bin` is the folder of its program. */
export async function schemathesis(
  bin: string,
  target: Omit<Target, 'stop'>,
  document: unknown,
  { known, secret }: Pick<Awaited<ReturnType<typeof prepare>>, 'known' | 'secret'>,
  { seed, seconds, examples, phases, operation }: FuzzOptions,
): Promise<FuzzResult> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-schemathesis-'));
  const [file, context, counts] = ['openapi', 'context', 'counts'].map((name) =>
    join(folder, `${name}.json`),
  ) as [string, string, string];
  writeFileSync(file, JSON.stringify(document));
  const shared = {
    counts,
    seed,
    known,
    memory_mb: MEMORY_GROWTH_MB,
    secret: { name: SECRET, job_id: secret },
  };
  writeFileSync(context, JSON.stringify({ ...target, ...shared }));
  const args = [
    `--config-file=${join(HERE, 'schemathesis.toml')}`,
    'run',
    file,
    `--url=${target.bases[0]}`,
    `--seed=${seed}`,
    `--max-examples=${examples}`,
    `--phases=${phases}`,
    ...(seconds === undefined ? [] : [`--max-time=${seconds}`]),
    ...(operation === undefined ? [] : [`--include-operation-id=${operation}`]),
  ];
  try {
    const env = { ...process.env, FUZZ_CONTEXT: context, SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: HERE };
    const child = spawn(join(bin, 'schemathesis'), args, {
      cwd: folder,
      env: { ...env, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let report = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (report += text));
    const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
    if (!existsSync(counts)) throw new Error(`schemathesis did not run:\n${report}`);
    return { passed: code === 0, report, counts: JSON.parse(readFileSync(counts, 'utf8')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function requestsOf({ counts }: FuzzResult): number {
  return Object.values(counts)
    .flatMap((each) => Object.values(each))
    .reduce((sum, count) => sum + count, 0);
}

/** Operations that no request reached. */
export function neverSucceeded({ counts }: FuzzResult): string[] {
  return Object.keys(counts).filter(
    (operation) => !Object.keys(counts[operation]!).some((status) => Number(status) < 400),
  );
}
