import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * The command replaces the shell, and the shell's background reader kills it when descriptor 3 ends without a line: the
 * other end is held by this process alone, so the kernel closes it whatever ended this process.
 */
const TIED_TO_PARENT = '{ read -r line <&3 || kill -9 $$; } >/dev/null 2>&1 & exec "$@" 3<&-';

export interface TiedProcess extends ChildProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/**
 * Starts a process that ends with this one, however this one ends and whatever the process is busy with.
 * It has a process group of its own: Ctrl-C at the terminal reaches the platform alone, which then ends the others.
 */
export function spawnTied(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): TiedProcess {
  const child = spawn('/bin/sh', ['-c', TIED_TO_PARENT, 'sh', command, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: environment,
  });
  const tie = child.stdio[3] as Writable;
  // The far end is gone when the process is.
  tie.on('error', () => {});
  child.once('exit', () => tie.end('ended\n'));
  return child as TiedProcess;
}
