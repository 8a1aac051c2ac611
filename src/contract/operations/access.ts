import { Me } from '../platform/me.ts';
import type { Operation } from '../values/operation.ts';

/** Row of the caller's own identity. */
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
] as const satisfies readonly Operation[];
