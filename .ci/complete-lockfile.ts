/**
 * Adds to package-lock.json the optional packages of other platforms that npm left out: `npm run lockfile` after a
 * dependency changed. `--check` only lists them.
 *
 * It works around two bugs of npm. `npm install` leaves such packages out when node_modules is present
 * (https://github.com/npm/cli/issues/4828) or when the registry does not serve them. `npm ci` then fails with "Missing:
 * ... from lock file" on every platform, though it would not install them. Delete this file when both are fixed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../package-lock.json');

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  packages: Record<string, Entry & Record<string, unknown>>;
}

const CPUS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x'];
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];

/** True if Node's lookup finds `name` from the package at `path`. */
function isLocked(packages: Lockfile['packages'], path: string, name: string): boolean {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${from ? `${from}/` : ''}node_modules/${name}`]) return true;
    if (from === '') return false;
  }
}

/** Lock file entry of a platform package, derived from its name. */
function platformEntry(name: string, version: string, dev: boolean) {
  const words = name.split('/').at(-1)!.split('-');
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return {
    version,
    cpu: CPUS.filter((cpu) => words.includes(cpu)),
    ...(dev && { dev }),
    ...(libc && { libc: [libc] }),
    optional: true,
    os: SYSTEMS.filter((system) => words.includes(system)),
  };
}

const lockfile = JSON.parse(readFileSync(FILE, 'utf8')) as Lockfile;
const missing: [string, ReturnType<typeof platformEntry>][] = [];
for (const [path, entry] of Object.entries(lockfile.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(lockfile.packages, path, name)) continue;
    const added = platformEntry(name, version, entry.dev === true);
    if (added.os.length !== 1 || added.cpu.length !== 1)
      throw new Error(`${name} does not name exactly one platform`);
    missing.push([`node_modules/${name}`, added]);
  }
}

if (process.argv.includes('--check')) {
  for (const [path] of missing)
    console.error(`${path} is missing in package-lock.json. Run: npm run lockfile`);
  process.exitCode = missing.length === 0 ? 0 : 1;
} else if (missing.length > 0) {
  const [root, ...others] = Object.entries(lockfile.packages);
  const sorted = [...others, ...missing].sort(([a], [b]) => a.localeCompare(b, 'en'));
  lockfile.packages = Object.fromEntries([root!, ...sorted]) as Lockfile['packages'];
  writeFileSync(FILE, `${JSON.stringify(lockfile, null, 2)}\n`);
  console.log(`Added ${missing.length} platform packages.`);
}
