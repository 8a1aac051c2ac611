import type * as z from 'zod';
import type { ErrorCode } from './errors.ts';

export type ServiceName = 'backend' | 'strategy' | 'data_collection';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `public` needs no token ever; the others are the least role that may call. */
export type Access = 'public' | 'viewer' | 'researcher' | 'approver' | 'admin';

export interface OperationResponse {
  readonly description: string;
  /** JSON schema of the body. Absent: the body is not JSON (see `contentType`). */
  readonly schema?: z.ZodType;
  /** Default application/json. */
  readonly contentType?: string;
}

/**
 * One row of the operations table. From it come the API Gateway route, request validation and dispatch,
 * the OpenAPI document, the local servers and the clients' types. Nobody writes a route twice.
 */
export interface Operation {
  /** Also the name of its handler and use case, for example `submitBacktest`. */
  readonly id: string;
  readonly service: ServiceName;
  readonly method: Method;
  /** With `{variables}`; one variable name per path position within a service. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Presence and JSON type alone; bounds, lists and formats are domain rules with codes. */
  readonly body?: z.ZodType;
  readonly success: Readonly<Record<number, OperationResponse>>;
  readonly errors: readonly ErrorCode[];
  readonly access: Access;
}
