import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SIGNALS_ID, SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import { type Caller, checkAccess } from '../access/access.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownSignals } from '../shared/unknown-resources.ts';
import type { SignalFiles, SignalsStore } from './signals-ports.ts';

const FIELD = 'config.signals';

/** The fields of a request that name a file, checked for form. Throws VAL005. */
export function resolveSignals({
  strategy,
  signals,
  signals_digest,
  ml_engine,
}: BacktestConfigRequest): Pick<ResolvedBacktestConfig, 'signals' | 'signals_digest'> {
  if (signals === undefined) {
    if (strategy !== SIGNALS_STRATEGY) return {};
    throw invalid(
      `is missing: strategy ${SIGNALS_STRATEGY} trades an uploaded file. Upload one with POST /api/v1/signals, and pass its signals_id`,
    );
  }
  if (strategy !== SIGNALS_STRATEGY) {
    throw invalid(`replaces a strategy: set config.strategy to ${SIGNALS_STRATEGY}, or leave ${FIELD} out`, {
      strategy: strategy.slice(0, 100),
    });
  }
  if (ml_engine?.enabled) throw invalid('excludes config.ml_engine: models are trained for a strategy');
  if (!SIGNALS_ID.test(signals)) {
    throw invalid('must be the signals_id of an uploaded file: sg-<id>', { value: signals.slice(0, 100) });
  }
  return { signals, ...(signals_digest !== undefined && { signals_digest }) };
}

export interface UseSignalsDeps {
  readonly signals: Pick<SignalsStore, 'find' | 'use'>;
  readonly signalFiles: Pick<SignalFiles, 'isUploaded'>;
  readonly clock: Clock;
}

/**
 * The configuration with the digest of its file; the use is recorded, so that the file is kept for the run.
 *
 * @param caller null for a file of a registered version: access to the version is enough
 * Throws SIG001, AUTH005, RES005 (not uploaded yet), VAL005 (another digest), DATA005.
 */
export async function useSignals(
  deps: UseSignalsDeps,
  caller: Caller | null,
  config: ResolvedBacktestConfig,
): Promise<ResolvedBacktestConfig> {
  const { signals: id } = config;
  if (id === undefined) return config;
  const found = await deps.signals.find(id);
  if (!found) throw unknownSignals(id, FIELD);
  if (caller) checkAccess(caller, found, { kind: 'signals', id, field: FIELD, level: 'read' });
  if (config.signals_digest !== undefined && config.signals_digest !== found.sha256) {
    throw new CodedError('VAL005', {
      message: 'config.signals_digest is not the SHA-256 of the file of config.signals',
      field: 'config.signals_digest',
      context: { value: config.signals_digest.slice(0, 100), sha256: found.sha256 },
    });
  }
  if (!(await deps.signalFiles.isUploaded(id))) {
    throw new CodedError('RES005', {
      message: `The file of ${id} is not uploaded yet: send it with PUT to upload_url, then repeat the request`,
      field: FIELD,
      context: { signals_id: id },
    });
  }
  if (!(await deps.signals.use(id, isoTime(deps.clock.now())))) throw unknownSignals(id, FIELD);
  return { ...config, signals_digest: found.sha256 };
}

function invalid(what: string, context: Readonly<Record<string, unknown>> = {}): CodedError {
  return new CodedError('VAL005', { message: `${FIELD} ${what}`, field: FIELD, context });
}
