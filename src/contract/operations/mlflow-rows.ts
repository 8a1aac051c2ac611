import type { Operation } from '../values/operation.ts';

/** Fields that rows of MLflow's API share. */
export const READ = {
  service: 'backend',
  tag: 'MLflow',
  access: 'viewer',
} as const satisfies Partial<Operation>;

/** A search has its query in the body. */
export const SEARCH = { ...READ, method: 'POST', changesState: false } as const;

/** A change of a model that the body names. */
export const CHANGE = {
  ...READ,
  access: 'researcher',
  auditedAs: { kind: 'models', field: 'name' },
} as const;

export const OF_MODEL = ['RES002', 'AUTH005', 'SVC005', 'DATA005'] as const;
export const OF_RUN = ['RES001', 'RES006', 'OPT001', 'AUTH005', 'DATA005'] as const;
