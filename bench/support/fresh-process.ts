import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What one process cost from its start to its end. */
export interface ProcessUsage {
  /** From the call that starts it to its exit, milliseconds. */
  readonly wallMs: number;
  /** Of all its threads, user and system, milliseconds. */
  readonly cpuMs: number;
  /** Largest resident set, MB of 1,048,576 bytes. */
  readonly peakMb: number;
}

const USAGE = join(import.meta.dirname, 'usage.ts');

/** Runs `file` with Node in a process of its own. Throws an Error with what it printed when it does not end with 0. */
export async function runFresh(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ProcessUsage> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', USAGE, file], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)]);
  const usage = text(child.stdio[3] as Readable);
  const [code] = await once(child, 'exit');
  const wallMs = performance.now() - started;
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${(await printed).join('')}`);
  return { wallMs, ...(JSON.parse(await usage) as Omit<ProcessUsage, 'wallMs'>) };
}
