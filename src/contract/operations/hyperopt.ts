import {
  HyperoptJob,
  HyperoptList,
  HyperoptListQuery,
  HyperoptParams,
  HyperoptResult,
  HyperoptStart,
  HyperoptTrialList,
  HyperoptTrialsQuery,
} from '../hyperopt-api.ts';
import { HYPEROPT_EVENTS, HyperoptEventsQuery } from '../hyperopt-events.ts';
import { HyperoptRequest } from '../hyperopt-request.ts';
import type { Operation } from '../operation.ts';
import { sharingOperations } from './sharing.ts';

const HYPEROPT = 'Hyperopt';

/** Rows of the strategy service that search parameters. */
export const HYPEROPT_OPERATIONS = [
  {
    id: 'startHyperopt',
    service: 'strategy',
    method: 'POST',
    path: '/api/v1/hyperopt',
    tag: HYPEROPT,
    summary: 'Search the parameters of a strategy and of its model',
    description:
      'Every trial is a walk-forward backtest. The same request with the same seed gives the same trials for any number of workers. With an `Idempotency-Key` a repeated request answers the job that the first one made.',
    body: HyperoptRequest,
    success: { 200: { description: 'Accepted', schema: HyperoptStart } },
    errors: [
      ...(['VAL001', 'VAL002', 'VAL003', 'VAL005', 'VAL006'] as const),
      ...(['RES002', 'RES005', 'DATA005'] as const),
    ],
    access: 'researcher',
  },
  {
    id: 'listHyperopts',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/hyperopt',
    tag: HYPEROPT,
    summary: 'Hyperopt jobs, newest first',
    query: HyperoptListQuery,
    success: { 200: { description: 'A page of jobs', schema: HyperoptList } },
    errors: ['VAL006', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'getHyperopt',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/hyperopt/{job_id}',
    tag: HYPEROPT,
    summary: 'Status and progress of a hyperopt job',
    description:
      'Answers 304 without a body while the `ETag` sent in `If-None-Match` is still the current one.',
    params: HyperoptParams,
    success: {
      200: { description: 'The job', schema: HyperoptJob },
      304: { description: 'It has not changed' },
    },
    errors: ['OPT001', 'DATA005'],
    access: 'viewer',
    resource: { kind: 'hyperopt', id: 'job_id', level: 'read' },
  },
  {
    id: 'getHyperoptResult',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/hyperopt/{job_id}/result',
    tag: HYPEROPT,
    summary: 'The best parameters of a completed hyperopt job',
    description: 'RES005 with the status in `context` until the job is completed.',
    params: HyperoptParams,
    success: { 200: { description: 'The result', schema: HyperoptResult } },
    errors: ['OPT001', 'RES005', 'DATA005'],
    access: 'viewer',
    resource: { kind: 'hyperopt', id: 'job_id', level: 'read' },
  },
  {
    id: 'listHyperoptTrials',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/hyperopt/{job_id}/trials',
    tag: HYPEROPT,
    summary: 'Trials of a hyperopt job, by number',
    params: HyperoptParams,
    query: HyperoptTrialsQuery,
    success: { 200: { description: 'A page of trials', schema: HyperoptTrialList } },
    errors: ['VAL006', 'OPT001', 'DATA005'],
    access: 'viewer',
    resource: { kind: 'hyperopt', id: 'job_id', level: 'read' },
  },
  {
    id: 'watchHyperopt',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/hyperopt/{job_id}/events',
    tag: HYPEROPT,
    summary: 'Follow a hyperopt job: its trials as they end',
    description: HYPEROPT_EVENTS,
    params: HyperoptParams,
    query: HyperoptEventsQuery,
    success: {
      200: { description: 'Events', contentType: 'text/event-stream' },
      204: {
        description: 'The job has ended, and no event comes after that id: nothing is worth another call',
      },
    },
    errors: ['OPT001', 'DATA005', 'HTTP503'],
    access: 'viewer',
    resource: { kind: 'hyperopt', id: 'job_id', level: 'read' },
    streams: true,
  },
  {
    id: 'cancelHyperopt',
    service: 'strategy',
    method: 'POST',
    path: '/api/v1/hyperopt/{job_id}/cancel',
    tag: HYPEROPT,
    summary: 'Cancel a pending or running hyperopt job',
    description: 'Trials that have ended stay. RES005 when the job is already terminal.',
    params: HyperoptParams,
    success: { 200: { description: 'Cancelled', schema: HyperoptJob } },
    errors: ['OPT001', 'RES005', 'DATA005', 'HTTP503'],
    access: 'researcher',
    resource: { kind: 'hyperopt', id: 'job_id', level: 'write' },
  },
  ...sharingOperations('strategy', {
    ...({ kind: 'hyperopt', name: 'Hyperopt', tag: HYPEROPT } as const),
    ...({ path: '/api/v1/hyperopt/{job_id}', id: 'job_id', params: HyperoptParams } as const),
  }),
] as const satisfies readonly Operation[];
