import type { Signals } from '#contract/market-data/signals-api.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import type { Ownership } from '#domain/access/access.ts';
import {
  createSignals,
  type DeleteSignalsDeps,
  deleteSignals,
  getSignals,
  listSignals,
  type SignalsDeps,
} from '#domain/signals/write-signals.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { sharingHandlers } from './sharing.ts';

/** Handlers of the rows of files of signals. */
export function signalsHandlers(
  deps: SignalsDeps & DeleteSignalsDeps,
  ownership: Ownership,
): GroupHandlers<'signals'> {
  const sharing = sharingHandlers(ownership, 'signals', 'signals_id');
  return {
    createSignals: async ({ body, principal, headers }) => {
      const key = headers.get('Idempotency-Key');
      const { signals, upload } = await createSignals(deps, callerOf(principal).id, body, key);
      const { url: upload_url, headers: upload_headers, expires_at: upload_expires_at } = upload;
      return {
        status: 201,
        body: { ...signalsView(signals), upload_url, upload_headers, upload_expires_at },
        headers: { Location: `signals/${signals.signals_id}` },
      };
    },
    listSignals: async ({ query, principal }) => {
      const { items, next } = await listSignals(deps, callerOf(principal).id, query);
      return { status: 200, body: { items: items.map(signalsView), next_cursor: next } };
    },
    getSignals: async ({ params }) => ({
      status: 200,
      body: signalsView(await getSignals(deps, params.signals_id)),
    }),
    deleteSignals: async ({ params }) => {
      await deleteSignals(deps, params.signals_id);
      return { status: 204, body: '' };
    },
    getSignalsSharing: sharing.read,
    shareSignals: sharing.share,
  };
}

function signalsView({
  signals_id,
  owner,
  name,
  format,
  bytes,
  sha256,
  created_at,
  last_used_at,
}: StoredSignals): Signals {
  return { signals_id, owner, name, format, bytes, sha256, created_at, last_used_at };
}
