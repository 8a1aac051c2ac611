import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/touchstone');
const PYTHON = process.env.PYTHON ?? 'python3';
const PROBE = 'import sys, venv, ensurepip; sys.exit(0 if sys.version_info >= (3, 11) else 1)';
const RUN_TIMEOUT_MS = 150_000;
const run = promisify(execFile);

/** Limit of an installation, ms: a package index that is slow or absent must not hold up the tests. */
const INSTALL_TIMEOUT_MS = 240_000;

/** A Python that imports a module, and the reason without one. */
export type FoundPython =
  | { readonly python: string; readonly remove: () => void }
  | { readonly python: undefined; readonly reason: string };

/**
 * The Python of the environment (`PYTHON`) if it has the module, else one of a temporary folder into which pip installs the
 * requirement.
 */
export async function pythonWith(module: string, requirement: string): Promise<FoundPython> {
  const has = spawnSync(PYTHON, ['-c', `import ${module}`], { encoding: 'utf8' });
  if (has.error) return { python: undefined, reason: `${PYTHON} cannot be started` };
  if (has.status === 0) return { python: PYTHON, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-python-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const limit = { signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS) };
    await run(PYTHON, ['-m', 'venv', folder], limit);
    const python = join(folder, 'bin', 'python');
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries=0', '--timeout=15'];
    await run(python, ['-m', 'pip', 'install', ...quiet, requirement], limit);
    return { python, remove };
  } catch (error) {
    remove();
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = stderr.trim().split('\n').at(-1) || message.split('\n')[0]!;
    return { python: undefined, reason: `${PYTHON} has no ${module}, and pip did not install it: ${reason}` };
  }
}

/** Python with the packages of a requirements file, in an environment that later runs use again; or the reason why there is none. */
export function environmentWith(
  requirements: string,
): { readonly python: string; readonly bin: string } | { readonly missing: string } {
  const digest = createHash('sha256')
    .update(PYTHON)
    .update(readFileSync(join(ROOT, requirements)));
  const home = join(CACHE, `python-${digest.digest('hex').slice(0, 16)}`);
  const bin = join(home, 'bin');
  const found = { python: join(bin, 'python'), bin };
  if (existsSync(join(home, 'complete'))) return found;
  if (spawnSync(PYTHON, ['-c', PROBE]).status !== 0) {
    return { missing: `${PYTHON} is not a Python 3.11 or later with venv. Name one in PYTHON` };
  }
  rmSync(home, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  // Scripts of an environment contain its path, so it is not moved: the marker, which is renamed, says that it is complete.
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
  for (const [command, args] of [
    [PYTHON, ['-m', 'venv', home]],
    [found.python, [...install, '-r', requirements]],
  ] as const) {
    const { status, stderr } = spawnSync(command, args, {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (status === 0) continue;
    rmSync(home, { recursive: true, force: true });
    return { missing: `pip could not install ${requirements}: ${stderr.trim().split('\n').at(-1)}` };
  }
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
