import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type SupervisedProcess, spawnSupervised } from '../processes/supervised-process.ts';

export interface DatabaseOptions {
  /** DynamoDB-compatible server to use instead of the embedded engine. */
  readonly endpoint?: string | undefined;
  /** SQLite file of the embedded engine; it is created when absent. */
  readonly dbPath: string;
}

export interface Database {
  readonly endpoint: string;
  /** Resolves with the reason when the embedded engine ends without having been stopped. */
  readonly lost: Promise<string>;
  /** Ends the embedded engine and waits until it is gone. */
  stop(): Promise<void>;
}

/** Normal start: 30 ms. The limit covers an overloaded machine. */
const START_TIMEOUT_MS = 15_000;
/** Normal stop: a few ms. Acknowledged writes survive SIGKILL. */
const STOP_TIMEOUT_MS = 3_000;
const PORT_ATTEMPTS = 5;

/**
 * Opens the local database: `endpoint` if given, else starts the embedded engine at an address that only this platform's processes
 * know ({@link hiddenAddress}). The engine ends with this process, even after SIGKILL. Throws an Error that lists the alternatives.
 */
export async function startDatabase({ endpoint, dbPath }: DatabaseOptions): Promise<Database> {
  if (endpoint) return { endpoint, lost: new Promise(() => {}), stop: async () => {} };
  const binary = databaseBinary();
  keepPrivate(dbPath);
  for (let attempt = 1; ; attempt++) {
    const started = await startEngine(binary, await hiddenAddress(), dbPath);
    if (typeof started !== 'string') return started;
    if (attempt === PORT_ATTEMPTS || !started.includes('already in use')) {
      throw new Error(`The embedded database did not start: ${started}`);
    }
  }
}

/**
 * Makes a new database readable by its owner only: it has the secrets of webhooks, and its folder may be open to others. The engine gives
 * its further files the same permissions, and says what is wrong with a path.
 */
function keepPrivate(dbPath: string): void {
  try {
    closeSync(openSync(dbPath, 'a', 0o600));
  } catch {
    return;
  }
}

/** Program of the embedded engine. Throws an Error that lists the alternatives if it is not installed. */
export function databaseBinary(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  } catch {
    throw new Error(
      `No embedded database for this machine: the npm package ${name} is not installed; set DYNAMODB_ENDPOINT to a DynamoDB-compatible server, such as http://127.0.0.1:8010 of DynamoDB Local, or install that package if your registry has it.`,
    );
  }
}

/** Reason why this machine cannot run the embedded engine, and what to do; undefined if it can, or if `endpoint` replaces it. */
export function databaseMissing(endpoint?: string): string | undefined {
  if (endpoint) return undefined;
  try {
    databaseBinary();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The running engine, or its output if it ended. */
async function startEngine(
  binary: string,
  { host, port }: Address,
  dbPath: string,
): Promise<Database | string> {
  const engine = ['--host', host, '--port', String(port), '--db-path', dbPath];
  const child = spawnSupervised(binary, engine, {});
  const ended = once(child, 'close').then(([code, signal]) => `ended with ${signal ?? `exit code ${code}`}`);
  const problem = await becomesReady(child, ended);
  if (problem !== undefined) return problem;

  let stopping = false;
  return {
    endpoint: `http://${host}:${port}`,
    lost: new Promise((resolve) => ended.then((how) => !stopping && resolve(`The embedded database ${how}`))),
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Resolves with undefined once the engine listens, or with its error output. */
async function becomesReady(child: SupervisedProcess, ended: Promise<string>): Promise<string | undefined> {
  let output = '';
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  const listening = new Promise<true>((resolve) => {
    const onData = (chunk: Buffer) => {
      // Both streams are read until the engine ends: a full pipe would block it. The first 4,000 characters are kept.
      if (output.length < 4_000) output += chunk;
      if (output.includes('listening on')) resolve(true);
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
  });
  const first = await Promise.race([listening, ended]);
  clearTimeout(timer);
  return first === true ? undefined : output.trim() || first;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * An address of the loopback that nobody guesses: one of 16 million hosts, and a free port of it. The engine answers every web page,
 * whatever its origin, and asks for no password. A page in a browser of this machine can try the ports of 127.0.0.1 within seconds, but
 * not those of all hosts. Without such hosts, as on macOS, it is 127.0.0.1.
 */
async function hiddenAddress(): Promise<Address> {
  const host = `127.${randomInt(1, 256)}.${randomInt(256)}.${randomInt(1, 255)}`;
  try {
    return { host, port: await freePort(host) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error;
    return { host: '127.0.0.1', port: await freePort() };
  }
}

/** A free TCP port of a host of the loopback, drawn from all; another process may take it before the caller does. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    // The last attempt leaves the choice to the system.
    const port = await listenOnce(attempt < PORT_ATTEMPTS ? randomInt(1024, 65_536) : 0, host).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE' || attempt === PORT_ATTEMPTS) throw error;
      },
    );
    if (port !== undefined) return port;
  }
}

/** Listens for a moment. Throws the system's error, such as EADDRINUSE. */
async function listenOnce(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: listened } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return listened;
}
