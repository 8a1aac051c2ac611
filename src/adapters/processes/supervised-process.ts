import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';

/**
 * `exec` replaces the shell with the command. The shell's background reader kills it when descriptor 3 closes without a line:
 * only this process holds the other end, so the kernel closes it when this process ends for any reason. `unset PWD`: the shell
 * would add it to the environment. When memory runs out, the kernel kills Node processes first: they run tasks and strategies,
 * whose buffers are outside the heap that Node limits.
 */
const TIED_TO_PARENT =
  '{ read -r line <&3 || kill -9 $$; } >/dev/null 2>&1 4>&- 5>&- & unset PWD; ' +
  '[ "$0" = node ] && { echo 900 >/proc/$$/oom_score_adj; } 2>/dev/null; exec "$@" 3<&-';

const CHANNELS = {
  none: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  messages: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ipc'],
  lines: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
} satisfies Record<string, StdioOptions>;

export interface SupervisedProcess extends ChildProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** By descriptor, see {@link CHANNELS}. */
  readonly stdio: [Writable | null, Readable, Readable, Duplex, Duplex];
}

/**
 * Starts a process that ends with this one, even if this one is killed or the process is busy. It can report progress on
 * descriptor 4, see report-progress.ts. It has a separate process group: Ctrl-C in the terminal reaches only the platform,
 * which then ends its processes.
 *
 * @param channel `messages`: Node's message channel with structured clone. `lines`: the process reads from standard input and
 * writes to descriptor 4. Absent: neither
 */
export function spawnSupervised(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  channel?: 'messages' | 'lines',
): SupervisedProcess {
  const child = spawn('/bin/sh', ['-c', TIED_TO_PARENT, basename(command), command, ...args], {
    detached: true,
    stdio: CHANNELS[channel ?? 'none'],
    serialization: 'advanced',
    env: environment,
  });
  const tie = child.stdio[3] as Writable;
  // The pipe breaks when the process ends.
  tie.on('error', () => {});
  child.once('exit', () => tie.end('ended\n'));
  return child as SupervisedProcess;
}
