import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWith } from '../../support/python.ts';
import { startDriver } from '../../support/python-driver.ts';
import type { Labeled } from './synthetic.ts';

const DRIVER = join(import.meta.dirname, 'xgboost-driver.py');

/** Python with XGBoost, which pip installs, or the reason why there is none. */
export const pythonWithXgboost = () => pythonWith('test/engine/ml/requirements.txt');

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

/** Starts XGBoost with the Python at the path `python`, that of {@link pythonWithXgboost}. */
export async function startXgboost(python: string): Promise<Xgboost> {
  const folder = mkdtempSync(join(tmpdir(), 'xgboost-'));
  const { ask, stop } = startDriver<Reply>(python, DRIVER);
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
      stop();
      rmSync(folder, { recursive: true });
    },
  };
}
