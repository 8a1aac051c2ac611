import { CodedError } from '#contract/values/errors.ts';
import { SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import type { ObjectStore } from '#domain/ports.ts';
import type { ReadSignals, SignalTable } from '#domain/signals/signal-table.ts';
import { sha256 } from '../sha256.ts';
import { signalsKey } from './keys.ts';
import { parseSignalsCsv } from './parse-csv.ts';
import { parseSignalsParquet } from './parse-parquet.ts';
import { BadSignalsError } from './table-builder.ts';

/** First and last bytes of a Parquet file. */
const PARQUET = 'PAR1';

/** Reader of the files in the bucket of results. */
export function openSignals(objects: Pick<ObjectStore, 'get'>): ReadSignals {
  return async (id, digest) => {
    const object = await objects.get(signalsKey(id), SIGNALS_LIMITS.bytes.max).catch((error: Error) => {
      // S3 hides whether an object exists from a role that may not list the bucket.
      if (error.name === 'AccessDenied') return undefined;
      throw error;
    });
    if (!object) return undefined;
    const found = sha256(object.body);
    if (found !== digest) {
      throw new CodedError('VAL005', {
        message: `The file of ${id} has another SHA-256 than the backtest was submitted with: upload it again`,
        field: 'config.signals',
        context: { sha256: found, submitted: digest },
      });
    }
    return parseSignals(object.body, id);
  };
}

/** Throws CodedError VAL005 that names the first row that is not valid. */
export function parseSignals(bytes: Uint8Array, name: string): SignalTable {
  try {
    const isParquet = Buffer.from(bytes.subarray(0, PARQUET.length)).toString('latin1') === PARQUET;
    return (isParquet ? parseSignalsParquet(bytes) : parseSignalsCsv(textOf(bytes))).finish();
  } catch (cause) {
    // Errors of the Parquet library are strings or errors of WebAssembly.
    const reason =
      cause instanceof BadSignalsError ? cause.message : `cannot be read: ${String(cause).slice(0, 200)}`;
    throw new CodedError('VAL005', {
      message: `The file of signals ${name} ${reason}`,
      field: 'config.signals',
      cause,
    });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new BadSignalsError('is neither Parquet nor UTF-8 text', { cause });
  }
}
