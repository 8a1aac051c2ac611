import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program that answers each JSON request, a line on stdin, with a line of JSON on stdout. */
export interface PythonDriver<Reply> {
  /** Sends a request and waits for its reply; one at a time. */
  ask(request: object): Promise<Reply>;
  stop(): void;
}

/** Starts the driver in the file `program` with the Python at the path `python`. */
export function startDriver<Reply>(python: string, program: string): PythonDriver<Reply> {
  const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} ended without a reply`);
      return JSON.parse(value) as Reply;
    },
    stop: () => child.kill(),
  };
}
