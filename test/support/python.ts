import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/touchstone');
const PYTHON = process.env.PYTHON ?? 'python3';
const PROBE = 'import sys, venv, ensurepip; sys.exit(0 if sys.version_info >= (3, 11) else 1)';
/** Limit of an installation, ms: a package index that is slow or absent must not hold up the tests. */
const INSTALL_TIMEOUT_MS = 240_000;
const RUN_TIMEOUT_MS = 150_000;

const run = promisify(execFile);

/** A Python and the folder of its programs, or the reason why there is none. */
type FoundPython = { readonly python: string; readonly bin: string } | { readonly missing: string };

/** Python with the packages of a requirements file. pip installs them into an environment that later runs use again. */
export async function pythonWith(requirements: string): Promise<FoundPython> {
  const digest = createHash('sha256')
    .update(PYTHON)
    .update(readFileSync(join(ROOT, requirements)));
  const home = join(CACHE, `python-${digest.digest('hex').slice(0, 16)}`);
  const bin = join(home, 'bin');
  const found = { python: join(bin, 'python'), bin };
  if (existsSync(join(home, 'complete'))) return found;
  try {
    await run(PYTHON, ['-c', PROBE]);
  } catch {
    return { missing: `${PYTHON} is not a Python 3.11 or later with venv. Name one in PYTHON` };
  }
  rmSync(home, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  const limit = { cwd: ROOT, signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS) };
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries=1', '--timeout=15'];
  try {
    await run(PYTHON, ['-m', 'venv', home], limit);
    await run(found.python, ['-m', 'pip', 'install', ...quiet, '-r', requirements], limit);
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = stderr.trim().split('\n').at(-1) || message.split('\n')[0]!;
    return { missing: `pip could not install ${requirements}: ${reason}` };
  }
  // Programs of an environment contain its path, so it cannot be moved: a folder that is renamed says that it is complete.
  renameSync(mkdtempSync(join(home, 'draft-')), join(home, 'complete'));
  return found;
}

/** Output of a command. @throws with its whole output when it fails */
export async function output(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const ended = run(command, [...args], {
    ...options,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...options.env },
    maxBuffer: 64 * 1024 ** 2,
    timeout: RUN_TIMEOUT_MS,
  });
  const { stdout } = await ended.catch((error) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}\n${error.message}`);
  });
  return stdout;
}
