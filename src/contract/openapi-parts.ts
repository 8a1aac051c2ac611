import { LAST_EVENT_ID } from './hyperopt-events.ts';
import { CORRELATION_HEADER, CORRELATION_ID } from './names.ts';

/** Headers and security schemes of all documents. */

export const CORRELATION_RESPONSE_HEADER = {
  description: 'Request identifier for tracing',
  required: true,
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

export const CORRELATION_PARAMETER = {
  name: CORRELATION_HEADER,
  in: 'header',
  description: 'A well-formed value is kept; otherwise the service creates one',
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

export const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'Access token. Each operation states the minimum role: viewer, researcher, approver, admin. A role includes those before it',
};

/** As API Gateway itself describes it in the documents that it exports. */
export const SIGNATURE = {
  type: 'apiKey',
  name: 'Authorization',
  in: 'header',
  'x-amazon-apigateway-authtype': 'awsSigv4',
};

export const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Requests of one caller with the same key and body create one resource. The registry repeats its response for 24 hours, with the header `Idempotent-Replay: true`',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

export const LAST_EVENT_PARAMETER = {
  name: LAST_EVENT_ID,
  in: 'header',
  description: 'ID of the last received event: the stream continues after it',
  schema: { type: 'integer', minimum: 0 },
};
