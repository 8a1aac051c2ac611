import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, writeSync } from 'node:fs';
import { setInterval } from 'node:timers/promises';

/**
 * Gates of strategy code, which can read no file: memory of an unusual size that begins with a state and a name. The test finds it in the
 * memory of the process, as the platform finds the current callback. Linux only.
 */

/** Pages of 64 KB. No other mapping of a task has this size. */
const PAGES = 7;
const STATE_BYTES = 8;

/** Code of a strategy that waits until its gate is opened. */
export const waitAtGate = (name: string): string => `{
  const memory = new WebAssembly.Memory({ initial: ${PAGES}, maximum: ${PAGES} });
  new Uint8Array(memory.buffer, ${STATE_BYTES}).set(new TextEncoder().encode(${JSON.stringify(`gate ${name};`)}));
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (Atomics.load(new Int32Array(memory.buffer), 0) === 0) Atomics.wait(pause, 0, 0, 10);
}`;

/** Process IDs that wait at a gate, of those whose environment contains a text. */
export function waitingAt(name: string, environment: string): number[] {
  return processesWith(environment).filter((pid) => gatesOf(pid, name).length > 0);
}

/** Opens a gate in every process, also later ones, that runs strategies of a folder. Ends when the folder is removed. */
export async function openGate(name: string, folder: string): Promise<void> {
  for await (const _ of setInterval(20)) {
    if (!existsSync(folder)) return;
    for (const pid of processesWith(folder)) {
      for (const gate of gatesOf(pid, name)) {
        inMemory(pid, 'r+', (memory) => writeSync(memory, Buffer.of(1), 0, 1, Number(gate)));
      }
    }
  }
}

function processesWith(environment: string): number[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.filter((pid) => textOf(`/proc/${pid}/environ`).includes(environment)).map(Number);
}

/** Addresses of the closed gates of a process: code waits at one of them. */
function gatesOf(pid: number, name: string): bigint[] {
  const closed = Buffer.concat([Buffer.alloc(STATE_BYTES), Buffer.from(`gate ${name};`)]);
  const found = Buffer.alloc(closed.length);
  return writable(pid).filter((address) => {
    found.fill(1);
    inMemory(pid, 'r', (memory) => readSync(memory, found, 0, found.length, address));
    return found.equals(closed);
  });
}

function writable(pid: number): bigint[] {
  return [...textOf(`/proc/${pid}/maps`).matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)]
    .map(([, from, to]) => [BigInt(`0x${from}`), BigInt(`0x${to}`)] as const)
    .filter(([from, to]) => to - from === BigInt(PAGES * 65_536))
    .map(([from]) => from);
}

/** The process may end meanwhile. */
function inMemory(pid: number, flags: string, use: (memory: number) => void): void {
  try {
    const memory = openSync(`/proc/${pid}/mem`, flags);
    try {
      use(memory);
    } finally {
      closeSync(memory);
    }
  } catch {
    // It has ended.
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
