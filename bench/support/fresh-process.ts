import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

export interface FreshProcess extends ProcessUsage {
  /** What it printed. */
  readonly output: string;
}

/** Writes what the process used to descriptor 3 at its end. JavaScript, so that Node need not load its TypeScript parser. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(`
import { writeSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 }));
});`)}`;

/**
 * Runs Node in a process of its own, with nothing in its environment but what is given.
 * Throws an Error with what it printed when it does not end with 0.
 *
 * @param args Node's, the file among them
 * @param oneCore keeps all threads of the process on one core; Linux
 */
export async function runFresh(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  oneCore = false,
): Promise<FreshProcess> {
  const node = [process.execPath, '--import', REPORT_USAGE, ...args];
  const [command, ...rest] = oneCore ? ['taskset', '--cpu-list', '0', ...node] : node;
  const started = performance.now();
  const child = spawn(command!, rest, { env: environment, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const pipes = [child.stdout!, child.stderr!, child.stdio[3] as Readable];
  const texts = Promise.all(pipes.map((pipe) => text(pipe)));
  const [code] = await once(child, 'exit');
  const wallMs = performance.now() - started;
  const [output, errors, usage] = (await texts) as [string, string, string];
  if (code !== 0) throw new Error(`node ${args.at(-1)} ended with ${code}: ${output}${errors}`);
  return { wallMs, output, ...(JSON.parse(usage) as { cpuMs: number; peakMb: number }) };
}
