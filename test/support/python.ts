import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PYTHON = process.env.PYTHON ?? 'python3';
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
