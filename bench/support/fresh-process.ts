import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Resource usage of one process from its start to its end. */
export interface ProcessUsage {
  /** Wall-clock time from the call that starts it to its exit, ms. */
  readonly wallMs: number;
  /** Processor time of all its threads, user and system, ms. */
  readonly cpuMs: number;
  /** Largest resident set, MB of 1,048,576 bytes. */
  readonly peakMb: number;
}

export interface FreshProcess extends ProcessUsage {
  /** Standard output. */
  readonly output: string;
}

const REPORT_USAGE = join(import.meta.dirname, 'report-usage.cjs');

/**
 * Runs Node in a new process with exactly the given environment.
 *
 * @param args arguments of Node, including the file
 * @param oneCore pins all threads of the process to one core (Linux)
 * @throws Error with the process output when the exit code is not 0
 */
export async function runFresh(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  oneCore = false,
): Promise<FreshProcess> {
  const node = [process.execPath, '--require', REPORT_USAGE, ...args];
  const [command, ...rest] = oneCore ? ['taskset', '--cpu-list', '0', ...node] : node;
  const started = performance.now();
  const child = spawn(command!, rest, { env: environment, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const pipes = [child.stdout!, child.stderr!, child.stdio[3] as Readable];
  const outputs = Promise.all(pipes.map((pipe) => text(pipe)));
  const [code] = await once(child, 'exit');
  const wallMs = performance.now() - started;
  const [output, errors, usage] = (await outputs) as [string, string, string];
  if (code !== 0) throw new Error(`node ${args.at(-1)} ended with code ${code}: ${output}${errors}`);
  return { wallMs, output, ...(JSON.parse(usage) as { cpuMs: number; peakMb: number }) };
}
