/** False when no process of this machine has the ID. In a sandbox, which knows no other processes, every process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill?.(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
