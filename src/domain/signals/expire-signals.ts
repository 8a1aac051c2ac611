import type { RetentionDays } from '#contract/env/retention.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { UNUSED_SIGNALS_DAYS } from '#contract/values/signals-limits.ts';
import type { Clock } from '../ports.ts';
import type { JobRetention } from '../retention/expire-jobs.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { isBeingRegistered, type VersionsWithSignals, versionsWithSignals } from './registered-signals.ts';
import type { SignalFiles, SignalsStore } from './signals-ports.ts';
import { removeSignals } from './write-signals.ts';

export interface ExpireSignalsDeps {
  readonly days: RetentionDays;
  readonly retention: Pick<JobRetention, 'checkpoint' | 'saveCheckpoint'>;
  readonly signals: SignalsStore;
  readonly registry: Pick<RegistryStore, 'versions'>;
  readonly signalFiles: Pick<SignalFiles, 'remove'>;
  readonly clock: Clock;
}

/** Name of the checkpoint of the pass through all files. */
const PASS = 'signals';
/** Files of one run. */
const PAGE = 100;

/**
 * Deletes files that nobody needs: never used for {@link UNUSED_SIGNALS_DAYS}, or used only by jobs that have expired. Files that
 * are shared or belong to a registered version stay. A run looks at a page of all files; at the end the pass begins again.
 *
 * @param onError is called with the ID of a file
 * @returns number of files deleted
 */
export async function expireSignals(
  deps: ExpireSignalsDeps,
  onError: (name: string, error: unknown) => void,
): Promise<number> {
  const { retention, signals } = deps;
  const { position = '' } = (await retention.checkpoint(PASS)) ?? {};
  const page = await signals.oldest(position, PAGE);
  const versionWith = versionsWithSignals(deps.registry);
  let deleted = 0;
  for (const each of page) {
    if (!isUnused(deps, each.signals)) continue;
    try {
      if (await isRegistered(deps, each.signals, versionWith)) continue;
      if (await removeSignals(deps, each.signals)) deleted += 1;
    } catch (error) {
      onError(each.signals.signals_id, error);
    }
  }
  const next = page.length === PAGE ? page.at(-1)!.position : '';
  if (next !== position) await retention.saveCheckpoint(PASS, { position: next, month: '', failures: 0 });
  return deleted;
}

async function isRegistered(
  { clock }: ExpireSignalsDeps,
  signals: StoredSignals,
  versionWith: VersionsWithSignals,
): Promise<boolean> {
  if (signals.deleted_at !== undefined || signals.registered_by === undefined) return false;
  return isBeingRegistered(signals, clock) || (await versionWith(signals.signals_id)) !== undefined;
}

function isUnused({ days, clock }: ExpireSignalsDeps, signals: StoredSignals): boolean {
  const { deleted_at, shared_with = [], last_used_at, created_at } = signals;
  if (deleted_at !== undefined) return true;
  if (shared_with.length > 0) return false;
  if (last_used_at === null) return isPast(created_at, UNUSED_SIGNALS_DAYS, clock);
  // A job starts its retention when it ends, at most days after its submission.
  return days.jobs !== null && isPast(last_used_at, days.jobs + UNUSED_SIGNALS_DAYS, clock);
}

function isPast(time: string, days: number, clock: Clock): boolean {
  return clock.now() - Date.parse(time) > days * DAY_MS;
}
