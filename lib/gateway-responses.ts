import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { ERRORS, type ErrorCode } from '#contract/errors.ts';
import { CORRELATION_HEADER } from '#contract/names.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from '#contract/security-headers.ts';

interface GatewayError {
  readonly type: ResponseType;
  readonly code: ErrorCode;
  /** The catalogue's message when absent. */
  readonly message?: string;
  /** Default: the status of the code. `keep`: what the gateway gives, as setting it would rewrite a whole class. */
  readonly status?: number | 'keep';
}

/** Every response that API Gateway itself can make. Who may call is decided behind it, so most mean a wrong set-up. */
const GATEWAY_ERRORS: readonly GatewayError[] = [
  {
    // Among them 414 and 431, which have no type of their own.
    type: ResponseType.DEFAULT_4XX,
    code: 'HTTP400',
    message: 'The request could not be read: its address or headers are malformed or too large',
    status: 'keep',
  },
  { type: ResponseType.DEFAULT_5XX, code: 'SVC001', status: 'keep' },
  { type: ResponseType.BAD_REQUEST_BODY, code: 'VAL006', message: 'The body could not be read' },
  { type: ResponseType.BAD_REQUEST_PARAMETERS, code: 'VAL005', message: 'A parameter could not be read' },
  // Every path has a method, so this is a request without the signature that a function's method asks for.
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, code: 'AUTH003' },
  { type: ResponseType.RESOURCE_NOT_FOUND, code: 'HTTP404' },
  { type: ResponseType.REQUEST_TOO_LARGE, code: 'HTTP413' },
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, code: 'HTTP415' },
  { type: ResponseType.THROTTLED, code: 'HTTP429' },
  { type: ResponseType.QUOTA_EXCEEDED, code: 'HTTP429' },
  { type: ResponseType.UNAUTHORIZED, code: 'AUTH003' },
  { type: ResponseType.EXPIRED_TOKEN, code: 'AUTH001' },
  { type: ResponseType.INVALID_SIGNATURE, code: 'AUTH002' },
  { type: ResponseType.ACCESS_DENIED, code: 'AUTH004' },
  { type: ResponseType.INVALID_API_KEY, code: 'AUTH004' },
  { type: ResponseType.WAF_FILTERED, code: 'AUTH004', message: 'The firewall refused the request' },
  { type: ResponseType.API_CONFIGURATION_ERROR, code: 'SVC001' },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, code: 'SVC001' },
  { type: ResponseType.AUTHORIZER_FAILURE, code: 'SVC001' },
  { type: ResponseType.INTEGRATION_FAILURE, code: 'SVC002' },
  { type: ResponseType.INTEGRATION_TIMEOUT, code: 'SVC006' },
];

/** As the gateway takes fixed values, in quotes; so a policy, which has quotes of its own, cannot be among them. */
const FIXED_HEADERS = Object.fromEntries(
  Object.entries({ ...SECURITY_HEADERS, ...TLS_HEADERS })
    .filter(([, value]) => !value.includes("'"))
    .map(([name, value]) => [name, `'${value}'`]),
);

/** Gives every error of the gateway the coded body and the headers of all other responses. */
export function addGatewayResponses(api: RestApi): void {
  for (const { type, code, message, status = ERRORS[code].status } of GATEWAY_ERRORS) {
    const detail = { code, message: message ?? ERRORS[code].message, field: '', context: {} };
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: status === 'keep' ? undefined : String(status),
      responseHeaders: {
        ...FIXED_HEADERS,
        [CORRELATION_HEADER]: 'context.requestId',
        ...(code === 'HTTP429' && { 'Retry-After': "'1'" }),
      },
      templates: { 'application/json': JSON.stringify({ detail }) },
    });
  }
}
