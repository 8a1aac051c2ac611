import { LAST_EVENT_ID } from './hyperopt-events.ts';
import { CORRELATION_HEADER, CORRELATION_ID } from './names.ts';

/** Headers and security schemes that the documents of all services have. */

export const CORRELATION_RESPONSE_HEADER = {
  description: 'Identifies the request in logs',
  required: true,
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

export const CORRELATION_PARAMETER = {
  name: CORRELATION_HEADER,
  in: 'header',
  description: 'Kept when it is well-formed; otherwise one is made',
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

export const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'An access token. Operations name the least role that may call them: viewer, researcher, approver, admin, each of which may do what those before it may',
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
    'The same key of the same caller with the same body means the same resource. The registry repeats its reply for 24 hours, with the header `Idempotent-Replay: true`',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

export const LAST_EVENT_PARAMETER = {
  name: LAST_EVENT_ID,
  in: 'header',
  description: 'Id of the last event that was received: those after it come',
  schema: { type: 'integer', minimum: 0 },
};
