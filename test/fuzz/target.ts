import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { PLATFORM_FILE, type PlatformInfo } from '../../src/local/platform-info.ts';

/** A caller without a role has a valid token and only unknown groups. */
const ROLES = ['guest', 'viewer', 'researcher', 'approver', 'admin'] as const;

/** Platform as `npm start` runs it, in a separate process and folder. */
export interface Target {
  readonly home: string;
  readonly pid: number;
  /** Everything that the process printed. */
  readonly log: string;
  /** Base URLs of the services, the backend first. */
  readonly bases: readonly string[];
  /** Null where calls need no token. */
  readonly tokens: Tokens | null;
  stop(): Promise<void>;
}

interface Tokens {
  /** User -> role -> token. The second user owns less. */
  readonly users: Readonly<Record<'ann' | 'bob', Readonly<Record<string, string>>>>;
  /** Values of `Authorization` that no service may accept. */
  readonly bad: readonly string[];
}

/** Starts the platform with the current `node`. @throws if it does not start within a minute */
export async function startTarget(auth: boolean): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-fuzz-'));
  const log = join(home, 'fuzz.log');
  const file = openSync(log, 'a');
  const child = spawn(process.execPath, ['bin/local.ts', ...(auth ? ['--auth'] : [])], {
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
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await ready(child, log);
    const info = JSON.parse(readFileSync(join(home, PLATFORM_FILE), 'utf8')) as PlatformInfo;
    const bases = [info.backend_url, info.strategy_service_url, info.data_collection_url];
    return { home, pid: child.pid!, log, bases, tokens: auth ? issue(home) : null, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ready(child: ChildProcess, log: string): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    // The line is printed after the file of the addresses is complete.
    if (readFileSync(log, 'utf8').includes('/docs')) return;
    if (child.exitCode !== null) break;
    await sleep(50);
  }
  throw new Error(`The platform did not start in a minute:\n${readFileSync(log, 'utf8')}`);
}

function issue(home: string): Tokens {
  const key = openIssuerKey(home);
  const claims = (role: string, user: string, lifetime = 86_400) => ({
    ...accessClaims({ role: 'viewer', user, lifetime, now: Date.now() }),
    'cognito:groups': [role],
  });
  const of = (user: string) =>
    Object.fromEntries(ROLES.map((role) => [role, signToken(key, claims(role, user))]));
  const admin = claims('admin', 'other');
  const good = signToken(key, admin);
  const [head, body, signature] = good.split('.') as [string, string, string];
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  const tokens = [
    'abc',
    'a.b.c',
    `${unsigned}.${body}.`,
    `${head}.${body}.${signature.slice(0, -8)}AAAAAAAA`,
    `${head}.${body}`,
    signToken(key, claims('admin', 'late', -60)),
    signToken(key, { ...admin, client_id: 'another' }),
    signToken(key, { ...admin, iss: 'https://evil.example' }),
    signToken(key, { ...admin, token_use: 'id' }),
    signToken(key, { ...admin, nbf: 4e9 }),
    'x'.repeat(6000),
  ];
  const basic = `Basic ${Buffer.from('admin:admin').toString('base64')}`;
  return {
    users: { ann: of('ann'), bob: of('bob') },
    bad: [basic, good, ...tokens.map((token) => `Bearer ${token}`)],
  };
}
