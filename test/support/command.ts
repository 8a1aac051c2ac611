import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import { tmpdir } from 'node:os';
import { Writable } from 'node:stream';
import { runCommand } from '../../bin/cli/program.ts';

export interface Ended {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a script of bin/ in a separate process with piped output until it ends. `home` is its data folder. */
export async function runScript(
  home: string,
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { TOUCHSTONE_HOME: home, NO_COLOR: '1', TMPDIR: tmpdir(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, err };
}

/** What a command has printed so far. */
interface Printed {
  readonly out: Buffer[];
  readonly err: Buffer[];
  readonly console: Console;
}

/** The platform of the test logs in this process too: only what the calls of the command print is its output. */
const printing = new AsyncLocalStorage<Printed>();
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `touchstone` in this process, after the one before it has ended: a process takes half a second to load one. Use
 * {@link runScript} for a command that starts a platform, waits for signals or reads standard input.
 */
export function runInProcess(
  home: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const ended = last.then(() => runNext(args, { TOUCHSTONE_HOME: home, NO_COLOR: '1', ...environment }));
  last = ended.catch(() => undefined);
  return ended;
}

async function runNext(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  const restore = [
    changed(process.env, environment),
    changed(process, { exitCode: undefined }),
    changed(process.stdout, { write: writerOf('out', process.stdout) }),
    changed(process.stderr, { write: writerOf('err', process.stderr) }),
    changed(globalThis, { console: ofCommand(console) }),
  ];
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  try {
    const printed = { out, err, console: new Console(into(out), into(err)) };
    await printing.run(printed, () => runCommand(args));
    const code = Number(process.exitCode ?? 0);
    return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
  } finally {
    for (const each of restore) each();
  }
}

/** Sets properties, and returns a function that sets their values of before. */
function changed<T extends object>(object: T, values: Partial<T>): () => void {
  const before = Object.keys(values).map((key) => [key, Reflect.get(object, key)] as const);
  Object.assign(object, values);
  return () => {
    for (const [key, value] of before) {
      if (value === undefined && object === process.env) Reflect.deleteProperty(object, key);
      else Reflect.set(object, key, value);
    }
  };
}

const into = (chunks: Buffer[]) =>
  new Writable({
    write: (chunk, _, done) => {
      chunks.push(chunk);
      done();
    },
  });

/** Keeps what the command prints; the platform in this process prints as before. */
function writerOf(name: 'out' | 'err', stream: NodeJS.WriteStream): typeof stream.write {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  return (chunk: Uint8Array | string, ...rest: unknown[]) => {
    const printed = printing.getStore();
    if (!printed) return write(chunk, ...rest);
    printed[name].push(Buffer.from(chunk as string));
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
}

const ofCommand = (own: Console): Console =>
  new Proxy(own, { get: (_, name) => Reflect.get(printing.getStore()?.console ?? own, name) });
