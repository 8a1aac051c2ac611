import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Kinds of platform processes that a soak kills. */
export const VICTIMS = ['platform', 'database', 'task', 'worker', 'collector', 'definitions'] as const;
export type Victim = (typeof VICTIMS)[number];

/** Platform of `npm start`, restarted whenever it ends. */
export interface SoakedPlatform {
  readonly urls: { readonly backend: string; readonly strategy: string; readonly dataCollection: string };
  /** Running processes of a kind. */
  find(victim: Victim): number[];
  /** Kills a process of a kind; false when it has already ended. */
  kill(victim: Victim, pid: number): boolean;
  /** True when the last start is complete and the platform responds. */
  isReady(): boolean;
  /** Number of starts. */
  starts(): number;
  /** Last output line of each failed start during which neither the platform nor its database was killed. */
  failedStarts(): readonly string[];
  /** Stops the platform without a restart. Removes its folder unless `keep` is set. */
  stop(keep: boolean): Promise<void>;
  readonly home: string;
}

/** Time limit until the platform prints its addresses, on a busy machine. */
const START_LIMIT_MS = 60_000;

/** Starts a platform on free ports with its own folder. Rejects when the first start fails. */
export async function startSoakedPlatform(): Promise<SoakedPlatform> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-soak-'));
  const [backend, strategy, data] = await freePorts(3);
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TMPDIR: tmpdir(),
    TOUCHSTONE_HOME: home,
    BACKEND_PORT: String(backend),
    STRATEGY_PORT: String(strategy),
    DATA_COLLECTION_PORT: String(data),
    // A closed port: no request reaches an exchange.
    EXCHANGE_URL: 'http://127.0.0.1:9',
  };
  let child: ChildProcess;
  let starts = 0;
  let ready = false;
  /** True when a process that the start needs was killed. */
  let excused = false;
  let stopped = false;
  const failures: string[] = [];

  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, ['bin/local.ts'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    starts++;
    ready = false;
    excused = false;
    const { promise: addresses, resolve } = Promise.withResolvers<void>();
    let output = '';
    for (const stream of [started.stdout!, started.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = `${output}${text}`.slice(-20_000);
        if (output.includes('data collection  http')) resolve();
      });
    }
    const ended = once(started, 'close');
    await Promise.race([addresses, ended, sleep(START_LIMIT_MS, undefined, { ref: false })]);
    const isReady = output.includes('data collection  http');
    ready = isReady;
    if (!isReady && !excused) failures.push(output.trim().split('\n').at(-1) || 'no output within a minute');
    void ended.then(async () => {
      if (stopped) return;
      // Delay before repeating a start that failed immediately.
      if (!isReady) await sleep(500);
      if (!stopped) await start();
    });
  };
  await start();
  if (failures.length > 0) {
    stopped = true;
    child!.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
    throw new Error(`The platform did not start:\n${failures[0]}`);
  }
  return {
    home,
    urls: {
      backend: `http://127.0.0.1:${backend}`,
      strategy: `http://127.0.0.1:${strategy}`,
      dataCollection: `http://127.0.0.1:${data}`,
    },
    kill: (victim, pid) => {
      excused ||= victim === 'platform' || victim === 'database';
      try {
        return process.kill(pid, 'SIGKILL');
      } catch {
        return false;
      }
    },
    find: (victim) => processesOf(child.pid!, victim),
    isReady: () => ready && child.exitCode === null && child.signalCode === null,
    starts: () => starts,
    failedStarts: () => failures,
    stop: async (keep) => {
      stopped = true;
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      if (!keep) rmSync(home, { recursive: true, force: true });
    },
  };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** Part of the command line of each kind; the platform's own process contains none of them. */
const COMMANDS: readonly (readonly [string, Victim])[] = [
  ['dynoxide', 'database'],
  ['tasks/backtest', 'task'],
  ['tasks/hyperopt', 'worker'],
  ['tasks/collect', 'collector'],
  ['bin/local.ts', 'platform'],
];

/** Process of the platform and its descendants, from /proc. */
function processesOf(platform: number, victim: Victim): number[] {
  const parents = new Map<number, number>();
  const commands = new Map<number, string>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') continue;
      parents.set(Number(entry), Number(parent));
      commands.set(Number(entry), readFileSync(`/proc/${entry}/cmdline`, 'utf8'));
    } catch {
      // The process ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    for (let each: number | undefined = pid; each; each = parents.get(each))
      if (each === platform) return true;
    return false;
  };
  const kindOf = (command: string) => COMMANDS.find(([part]) => command.includes(part))?.[1] ?? 'definitions';
  return (
    [...commands]
      // Excludes the shell next to each child, which only ends the child with the platform.
      .filter(([, command]) => command !== '' && !command.startsWith('/bin/sh'))
      .filter(([pid, command]) => isBelow(pid) && kindOf(command) === victim)
      .map(([pid]) => pid)
  );
}
