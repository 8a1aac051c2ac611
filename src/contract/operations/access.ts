import { Sharing, TransferRequest } from '../common/sharing-schemas.ts';
import { Me } from '../platform/me.ts';
import type { Operation } from '../values/operation.ts';

/** Rows of the caller's own identity and of owners. */
export const ACCESS_OPERATIONS = [
  {
    id: 'getMe',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/me',
    tag: 'Access',
    summary: 'The caller and what its roles allow',
    description:
      'Where authentication is not enforced, a call without a token is the user `anonymous` with every role.',
    success: { 200: { description: 'The caller', schema: Me } },
    errors: [],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'transferOwnership',
    service: 'backend',
    method: 'POST',
    path: '/api/v1/ownership',
    tag: 'Access',
    summary: 'Make another user the owner of a resource',
    description:
      'The challenges of a model go with it. The owner before keeps no access unless it is granted afterwards. A job must have ended.',
    body: TransferRequest,
    success: { 200: { description: 'Its sharing now', schema: Sharing } },
    errors: [
      'VAL005',
      'RES001',
      'RES002',
      { code: 'RES005', status: 409 },
      'RES006',
      'OPT001',
      'SIG001',
      'HOOK001',
      'DATA005',
      'SVC005',
    ],
    access: 'admin',
    auditedAs: { field: 'resource' },
  },
] as const satisfies readonly Operation[];
