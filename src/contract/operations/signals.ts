import {
  Signals,
  SignalsList,
  SignalsListQuery,
  SignalsParams,
  SignalsRequest,
  SignalsUpload,
} from '../market-data/signals-api.ts';
import type { Operation } from '../values/operation.ts';
import { sharingOperations } from './sharing.ts';

const TAG = 'Signals';
const FILES = '/api/v1/signals';
const FILE = '/api/v1/signals/{signals_id}';

/** Rows of the backend for files of signals. */
export const SIGNALS_OPERATIONS = [
  {
    id: 'createSignals',
    service: 'backend',
    method: 'POST',
    path: FILES,
    tag: TAG,
    summary: 'Upload a file of signals',
    description:
      'Returns an address for a PUT of the file, CSV or Parquet. A backtest of strategy `signals` then names it in `config.signals`. The task checks the rows. With an `Idempotency-Key` a repeated request returns the same file with a new address.',
    body: SignalsRequest,
    success: { 201: { description: 'The file and the address for its upload', schema: SignalsUpload } },
    errors: ['VAL005', 'RES005', 'DATA005'],
    access: 'researcher',
    startsWork: true,
  },
  {
    id: 'listSignals',
    service: 'backend',
    method: 'GET',
    path: FILES,
    tag: TAG,
    summary: 'Files of signals of the caller, newest first',
    query: SignalsListQuery,
    success: { 200: { description: 'One page', schema: SignalsList } },
    errors: ['VAL006', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'getSignals',
    service: 'backend',
    method: 'GET',
    path: FILE,
    tag: TAG,
    summary: 'A file of signals, without its content',
    params: SignalsParams,
    success: { 200: { description: 'The file', schema: Signals } },
    errors: ['SIG001', 'DATA005'],
    access: 'viewer',
    resource: { kind: 'signals', id: 'signals_id', level: 'read' },
  },
  {
    id: 'deleteSignals',
    service: 'backend',
    method: 'DELETE',
    path: FILE,
    tag: TAG,
    summary: 'Delete a file of signals',
    description:
      'Backtests with it keep their results and cannot be run again. The file of a registered version stays.',
    params: SignalsParams,
    success: { 204: { description: 'Deleted' } },
    errors: ['SIG001', 'RES005', 'DATA005'],
    access: 'researcher',
    resource: { kind: 'signals', id: 'signals_id', level: 'owner' },
  },
  ...sharingOperations('backend', {
    kind: 'signals',
    name: 'Signals',
    path: FILE,
    id: 'signals_id',
    params: SignalsParams,
    tag: TAG,
  }),
] as const satisfies readonly Operation[];
