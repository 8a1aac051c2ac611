import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '#contract/values/names.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { PLATFORM_FILE, type PlatformInfo } from '../../src/local/platform-info.ts';
import { readDocument, type ServiceDocument } from './document.ts';

const ROLES = ['viewer', 'researcher', 'approver', 'admin'] as const;
/** A caller without a role has a valid token and only unknown groups. */
const NO_ROLE = 'guest';
export type Role = (typeof ROLES)[number] | typeof NO_ROLE;

/** Platform as `npm start` runs it, in a separate process and folder. */
export interface Target {
  readonly enforced: boolean;
  readonly services: readonly ServiceDocument[];
  /** Address of the service under `npm start`, instead of its address here. */
  publicBase(service: ServiceDocument): string;
  /** Log lines of the process since it was ready, only those that report an error. */
  serverErrors(): readonly string[];
  /** Resident memory, MB. */
  memoryMb(): number;
  readonly tokens: Tokens | null;
  stop(): Promise<void>;
}

/** Tokens of the platform's issuer, and invalid ones. */
export interface Tokens {
  of(role: Role, user: string): string;
  /** Sufficient roles, lowest first. */
  enough(role: string | null): readonly Role[];
  /** Insufficient roles. */
  tooLow(role: string | null): readonly Role[];
  readonly bad: readonly string[];
}

/** Starts the platform with the current `node`. Rejects if it does not start within a minute. */
export async function startTarget(enforced: boolean): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-fuzz-'));
  const child = spawn(process.execPath, ['bin/local.ts', ...(enforced ? ['--auth'] : [])], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: tmpdir(),
      TOUCHSTONE_HOME: home,
      BACKEND_PORT: '0',
      STRATEGY_PORT: '0',
      DATA_COLLECTION_PORT: '0',
      // No exchange is requested: this address has no listener.
      EXCHANGE_URL: 'http://127.0.0.1:9',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
  }
  try {
    const info = await readInfo(child, join(home, PLATFORM_FILE), lines);
    const urls = {
      backend: info.backend_url,
      strategy: info.strategy_service_url,
      data_collection: info.data_collection_url,
    };
    const services = await Promise.all(Object.values(urls).map(readDocument));
    const ports = Object.keys(urls).map((name) => SERVICES[name as keyof typeof urls].port);
    return {
      enforced,
      services,
      publicBase: (service) => `http://127.0.0.1:${ports[services.indexOf(service)]}`,
      serverErrors: () => [
        ...lines.filter(isFault),
        ...(child.exitCode === null ? [] : [`the platform ended with code ${child.exitCode}`]),
      ],
      memoryMb: () => memoryOf(child),
      tokens: enforced ? issue(home) : null,
      stop: () => stop(child, home),
    };
  } catch (error) {
    await stop(child, home);
    throw error;
  }
}

async function readInfo(child: ChildProcess, file: string, lines: readonly string[]): Promise<PlatformInfo> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    if (child.exitCode !== null) throw new Error(`The platform did not start:\n${lines.join('\n')}`);
    // The line is printed after the file is complete.
    if (lines.some((line) => line.includes('/docs'))) break;
    await sleep(50);
  }
  if (!existsSync(file)) throw new Error(`The platform did not start in a minute:\n${lines.join('\n')}`);
  return JSON.parse(readFileSync(file, 'utf8')) as PlatformInfo;
}

/** True for a log line of level ERROR or a line outside the log: a stack, a warning of Node. */
function isFault(line: string): boolean {
  if (!line.startsWith('{'))
    return !/^(Touchstone is running| {2}(dashboard|backend|strategy|data collection) |Calls need)/.test(
      line,
    );
  const { level } = JSON.parse(line) as { level?: string };
  return level === 'ERROR' || level === 'CRITICAL';
}

function memoryOf({ pid }: ChildProcess): number {
  return Math.round(
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024,
  );
}

async function stop(child: ChildProcess, home: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(home, { recursive: true, force: true });
}

function issue(home: string): Tokens {
  const key = openIssuerKey(home);
  const claims = (role: Role, user: string, lifetime = 86_400) => ({
    ...accessClaims({ role: 'viewer', user, lifetime, now: Date.now() }),
    'cognito:groups': [role],
  });
  const of = (role: Role, user: string) => signToken(key, claims(role, user));
  const good = of('admin', 'admin');
  const [head, body, signature] = good.split('.') as [string, string, string];
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const ranked = (role: string | null) => Math.max(0, ROLES.indexOf(role as (typeof ROLES)[number]));
  return {
    of,
    enough: (role) => ROLES.slice(ranked(role)),
    tooLow: (role) => [NO_ROLE, ...ROLES.slice(0, ranked(role))],
    bad: [
      'Bearer abc',
      'Bearer a.b.c',
      `Bearer ${none}.${body}.`,
      `Bearer ${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`,
      `Bearer ${head}.${body}`,
      `Bearer ${signToken(key, claims('admin', 'late', -60))}`,
      `Bearer ${signToken(key, { ...claims('admin', 'other'), client_id: 'another' })}`,
      `Bearer ${signToken(key, { ...claims('admin', 'other'), iss: 'https://evil.example' })}`,
      `Bearer ${signToken(key, { ...claims('admin', 'other'), token_use: 'id' })}`,
      `Bearer ${signToken(key, { ...claims('admin', 'early'), nbf: 4e9 })}`,
      `Basic ${Buffer.from('admin:admin').toString('base64')}`,
      good,
      `Bearer ${'x'.repeat(6000)}`,
    ],
  };
}
