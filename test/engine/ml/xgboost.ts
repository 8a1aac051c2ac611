import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Labeled } from './synthetic.ts';

/** Debian's packages belong to the system's Python, which may not be first in PATH. */
const PYTHONS = ['python3', '/usr/bin/python3'];
const DRIVER = join(import.meta.dirname, 'xgboost-driver.py');

/** Path of a Python with XGBoost (`apt-get install python3-xgboost`), undefined if absent. */
export function pythonWithXgboost(): string | undefined {
  return PYTHONS.find(
    (python) => spawnSync(python, ['-c', 'import xgboost'], { stdio: 'ignore' }).status === 0,
  );
}

/** XGBoost on one thread in a separate process. */
export interface Xgboost {
  readonly version: string;
  /** Processor time of the training without making the matrix, milliseconds. */
  train(data: Labeled, trees: number, params: Readonly<Record<string, unknown>>): Promise<number>;
  /** P(label = 1) of each row by the model trained last, and the processor time without making the matrix. */
  predict(data: Labeled): Promise<{ readonly probabilities: Float64Array; readonly cpuMs: number }>;
  stop(): void;
}

interface Reply {
  readonly cpu_ms: number;
  readonly version: string;
}

/** Starts XGBoost. `python` is the result of {@link pythonWithXgboost}. */
export async function startXgboost(python: string): Promise<Xgboost> {
  const folder = mkdtempSync(join(tmpdir(), 'xgboost-'));
  const child = spawn(python, [DRIVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ask = asker(child);
  const files = new Map<Labeled, { features: string; labels: string; rows: number }>();
  const filesOf = (data: Labeled) => {
    const known = files.get(data);
    if (known) return known;
    const base = join(folder, String(files.size));
    const written = { features: `${base}.f64`, labels: `${base}.u8`, rows: data.matrix.rows };
    writeFileSync(
      written.features,
      Buffer.concat(data.matrix.columns.map((column) => Buffer.from(column.buffer))),
    );
    writeFileSync(written.labels, data.labels);
    files.set(data, written);
    return written;
  };
  const { version } = await ask({ op: 'version' });
  return {
    version,
    async train(data, trees, params) {
      return (await ask({ op: 'train', ...filesOf(data), trees, params })).cpu_ms;
    },
    async predict(data) {
      const into = join(folder, 'predictions.f32');
      const { cpu_ms } = await ask({ op: 'predict', ...filesOf(data), into });
      const { buffer, byteOffset } = readFileSync(into);
      const probabilities = Float64Array.from(new Float32Array(buffer, byteOffset, data.matrix.rows));
      return { probabilities, cpuMs: cpu_ms };
    },
    stop() {
      child.kill();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Sends a request and waits for its reply; one at a time. */
function asker(child: ChildProcess): (request: object) => Promise<Reply> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async (request) => {
    child.stdin!.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('XGBoost ended without a reply');
    return JSON.parse(value) as Reply;
  };
}
