import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

const running = new Set<ChildProcess>();

/** Starts a process as the leader of a group, which ends with it and at the latest by {@link endProcesses}. */
export function startProcess(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  running.add(child);
  child.once('exit', () => end(child));
  return child;
}

/** Kills every process that is left, with its group. */
export function endProcesses(): void {
  for (const child of running) end(child);
}

function end(child: ChildProcess): void {
  running.delete(child);
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of the group is left.
  }
}
