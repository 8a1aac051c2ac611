import * as z from 'zod';
import { ErrorBody, RequestValidationError } from '../common/error-bodies.ts';
import { MlflowError } from '../registry/mlflow-api.ts';
import { ERRORS, type ErrorCode } from '../values/errors.ts';
import { MLFLOW_PREFIX } from '../values/mlflow-paths.ts';
import {
  CORRELATION_HEADER,
  CORRELATION_ID,
  LAST_EVENT_ID,
  SERVICES,
  SESSION_HEADER,
  SESSION_NAME,
} from '../values/names.ts';
import {
  documentedErrors,
  isBodyOptional,
  type Operation,
  type OperationResponse,
  pathsOf,
  type ServiceName,
  takesIdempotencyKey,
  WITHOUT_BODY,
} from '../values/operation.ts';
import {
  forGenerators,
  nullFields,
  type Override,
  withoutSafeRange,
  withPlainUnions,
} from './openapi-schemas.ts';
import { operationsOf } from './operations.ts';

type Json = Record<string, unknown>;

/**
 * Query parameters that documents leave out: `params.fast=10` stands for any number of parameters, and openapi-python-client has a variable
 * called `params` in each function. docs/results.md has it.
 */
const UNDOCUMENTED: ReadonlySet<string> = new Set(['params']);

/** The OpenAPI 3.1 document of a service, built from its rows of the operations table. */
export function openApiDocument(
  service: ServiceName,
  version: string,
  omitted: ReadonlySet<string> = UNDOCUMENTED,
): Json {
  const components = new Components();
  const operations = operationsOf(service);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    for (const path of pathsOf(operation)) {
      paths[path] ??= {};
      paths[path]![operation.method.toLowerCase()] = operationObject(operation, path, components, omitted);
    }
  }
  const { title, description } = SERVICES[service];
  return {
    openapi: '3.1.0',
    info: { title, version, description: `${description}\n\n${GENERAL}` },
    // Relative to this document, so that it holds behind a stage prefix too.
    servers: [{ url: '.' }],
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      headers: { [CORRELATION_HEADER]: CORRELATION_RESPONSE_HEADER },
      parameters: {
        [CORRELATION_HEADER]: CORRELATION_PARAMETER,
        'Idempotency-Key': IDEMPOTENCY_PARAMETER,
        ...(operations.some(({ takesSession }) => takesSession) && { [SESSION_HEADER]: SESSION_PARAMETER }),
      },
      securitySchemes: {
        bearer: BEARER,
        ...(operations.some(({ integration }) => integration) && { sigv4: SIGNATURE }),
      },
    },
  };
}

const CORRELATION_RESPONSE_HEADER = {
  description: 'Request identifier for tracing',
  required: true,
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

const CORRELATION_PARAMETER = {
  name: CORRELATION_HEADER,
  in: 'header',
  description: 'A well-formed value is kept; otherwise the service creates one',
  schema: { type: 'string', pattern: CORRELATION_ID.source },
};

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'Access token. Each operation states the minimum role: viewer, researcher, approver, admin. A role includes those before it',
};

/** Same form as in the documents that API Gateway exports. */
const SIGNATURE = {
  type: 'apiKey',
  name: 'Authorization',
  in: 'header',
  'x-amazon-apigateway-authtype': 'awsSigv4',
};

const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Requests of one caller with the same key and body create one resource. The registry repeats its response for 24 hours, with the header `Idempotent-Replay: true`',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

const SESSION_PARAMETER = {
  name: SESSION_HEADER,
  in: 'header',
  description:
    'Session of the caller that the job belongs to. Its backtests and hyperopt trials on overlapping assets and dates count as trials of the session',
  schema: { type: 'string', pattern: SESSION_NAME.source },
};

/** Header of a stream. IDs have the form of the parameter `after`. */
function lastEventParameter({ query }: Operation): Json {
  return {
    name: LAST_EVENT_ID,
    in: 'header',
    description: 'ID of the last received event: the stream continues after it',
    schema: parameters('query', query, UNDOCUMENTED).find(({ name }) => name === 'after')!.schema,
  };
}

const GENERAL = [
  `Every response carries \`${CORRELATION_HEADER}\`.`,
  'A path that is not listed returns 404 `HTTP404`, a method that is not listed 405 `HTTP405` with `Allow`;',
  'a malformed request 400 `HTTP400`, an incomplete one 408 `HTTP408`.',
  'In local mode a request with the host name of another machine is rejected with 403 `HTTP403`.',
  '`HEAD` is served wherever `GET` is.',
  'A `GET` below `/api/v1` rejects a query parameter that it does not know: 400 `VAL005` with the known ones. `/health` ignores it.',
  `Errors of paths below \`${MLFLOW_PREFIX}\` have the shape that the client of MLflow reads, with the same statuses.`,
  'Codes that start with VAL and AUTH are not worth a retry (AUTH001 after refreshing the token is);',
  'those that start with SVC may be retried with increasing delay, up to three attempts.',
  'Times are ISO 8601 in UTC.',
  '`null` in an optional field of a body is the same as leaving it out, unless the field gives it a meaning.',
].join('\n');

function operationObject(
  operation: Operation,
  path: string,
  components: Components,
  omitted: ReadonlySet<string>,
): Json {
  const { id, tag, summary, body } = operation;
  const description = descriptionOf(operation);
  return {
    // No two operations of a document may have the same one.
    operationId: path === operation.path ? id : `${id}AtRoot`,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    parameters: [
      ...parameters('path', operation.params, omitted),
      ...parameters('query', operation.query, omitted),
      { $ref: `#/components/parameters/${CORRELATION_HEADER}` },
      ...(takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
      ...(operation.takesSession ? [{ $ref: `#/components/parameters/${SESSION_HEADER}` }] : []),
      ...(operation.streams ? [lastEventParameter(operation)] : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: !isBodyOptional(operation),
            content: { 'application/json': { schema: components.reference(body, nullFields) } },
          },
        }
      : {}),
    responses: { ...successResponses(operation, components), ...errorResponses(operation, components) },
    security: security(operation),
  };
}

/** Description of the operation, and the callers it allows beyond the role. */
function descriptionOf({ description, resource, fieldRoles = {} }: Operation): string {
  const others = {
    read: ', whom it is shared with',
    write: ', whom it is shared with at `write`',
    owner: '',
  };
  return [
    ...(description ? [description] : []),
    ...(resource ? [`For the owner of the ${resource.kind}${others[resource.level]}, and admins.`] : []),
    ...(resource?.evidence ? ['Also for readers of a model with a version of it.'] : []),
    ...Object.entries(fieldRoles).map(([field, role]) => `\`${field}\` is for ${role}s.`),
  ].join(' ');
}

/** A token that gives the role named or a higher one, or a signature; not every stage asks for them. */
function security({ access, integration }: Operation): Json[] {
  if (access === 'public') return [];
  return [integration ? { sigv4: [] } : { bearer: [access] }, {}];
}

function parameters(
  location: 'path' | 'query',
  schema: z.ZodObject | undefined,
  omitted: ReadonlySet<string>,
): Json[] {
  if (!schema) return [];
  // The output side: what the text is read as, with its bounds and default.
  const { properties = {} } = z.toJSONSchema(schema, { io: 'output', override: withoutSafeRange }) as {
    properties?: Record<string, Json>;
  };
  return Object.entries(properties)
    .filter(([name]) => !omitted.has(name))
    .map(([name, { description, ...rest }]) => ({
      name,
      in: location,
      description,
      required: location === 'path' || !z.safeParse(schema.shape[name] as z.ZodType, undefined).success,
      ...(rest.type === 'object' && { style: 'deepObject', explode: true }),
      schema: rest,
    }));
}

function successResponses(operation: Operation, components: Components): Json {
  const entries = Object.entries(operation.success).map(([status, response]) => [
    status,
    {
      description: response.description,
      headers: HEADERS,
      ...(!WITHOUT_BODY.includes(Number(status)) && {
        content: content(response, components),
      }),
    },
  ]);
  return Object.fromEntries(entries);
}

/** Media types of a response, with the schema of each. */
function content({ schema, contentType, events = {} }: OperationResponse, components: Components): Json {
  // A generator that does not know the type of a file takes the first as bytes.
  if (contentType === '*/*') {
    return {
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      '*/*': { schema: {} },
    };
  }
  const named = Object.entries(events).map(([name, data]) => [name, components.reference(data)]);
  return {
    [contentType ?? 'application/json']: {
      schema: schema ? components.reference(schema) : { type: 'string' },
      // OpenAPI has no word for the data of events.
      ...(named.length > 0 && { 'x-events': Object.fromEntries(named) }),
    },
  };
}

const HEADERS = { [CORRELATION_HEADER]: { $ref: `#/components/headers/${CORRELATION_HEADER}` } };

/** One response per status, naming every code that may come with it; equal ones are shared. */
function errorResponses(operation: Operation, components: Components): Json {
  const byStatus = Map.groupBy(documentedErrors(operation), ({ status }) => status);
  const statuses = new Set([...byStatus.keys(), ...(operation.body ? [400] : [])]);
  const isMlflow = operation.path.startsWith(MLFLOW_PREFIX);
  const other = (status: number) => {
    if (isMlflow) return MLFLOW_ERROR;
    if (operation.integration) return { ...FUNCTION_REJECTION, schema: operation.integration.rejection };
    return status === 400 && operation.body ? BODY_REJECTION : undefined;
  };
  const entries = [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const codes = isMlflow ? [] : (byStatus.get(status) ?? []).map(({ code }) => code).sort();
      return [String(status), components.errorResponse(status, codes, other(status))];
    });
  return Object.fromEntries(entries);
}

/** A body of an error that is not the coded one. */
interface OtherShape {
  /** Part of the response's name. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

const BODY_REJECTION: OtherShape = {
  name: 'body',
  description: 'An array: the body does not fit its schema',
  schema: RequestValidationError,
};

const MLFLOW_ERROR: OtherShape = {
  name: 'mlflow',
  description: "As MLflow's client reads it; the message ends with the code of the catalogue",
  schema: MlflowError,
};

const FUNCTION_REJECTION = {
  name: 'function',
  description: "In `detail` from the gateway, in the function's own body from the function",
};

function codedExample(code: ErrorCode): Json {
  const { message } = ERRORS[code];
  return { summary: message, value: { detail: { code, message, field: '', context: {} } } };
}

/** Shared components: schemas with an ID, and error responses. */
class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  /** The JSON Schema of `schema`, with references into the components. Throws when two schemas share an id. */
  reference(schema: z.ZodType, change: Override = () => {}): Json {
    const override: Override = (context) => {
      withoutSafeRange(context);
      forGenerators(context);
      change(context);
    };
    const {
      $schema: _,
      $defs = {},
      ...root
    } = withPlainUnions(z.toJSONSchema(schema, { io: 'input', override })) as Json & {
      $defs?: Record<string, Json>;
    };
    for (const [name, definition] of Object.entries($defs)) this.#add(name, relocate(definition));
    return relocate(root) as Json;
  }

  #add(name: string, schema: unknown): void {
    const known = this.#schemas.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas have the id ${name}`);
    }
    this.#schemas.set(name, schema as Json);
  }

  /** A reference to the response of that status with these codes, and in the other shape where there is one. */
  errorResponse(status: number, codes: readonly ErrorCode[], other: OtherShape | undefined): Json {
    const name = [status, ...codes, ...(other ? [other.name] : [])].join('.');
    const shapes = [
      ...(codes.length > 0 ? [this.reference(ErrorBody)] : []),
      ...(other ? [this.reference(other.schema)] : []),
    ];
    this.#responses.set(name, {
      description: [
        ...codes.map((code) => `${code}: ${ERRORS[code].message}`),
        ...(other ? [other.description] : []),
      ].join('\n\n'),
      headers: HEADERS,
      content: {
        'application/json': {
          schema: shapes.length > 1 ? { oneOf: shapes } : shapes[0],
          // Not an enumeration of this response: generators would write a model of the body for each of them.
          ...(codes.length > 0 && { 'x-codes': codes }),
          examples: Object.fromEntries(codes.map((code) => [code, codedExample(code)])),
        },
      },
    });
    return { $ref: `#/components/responses/${name}` };
  }

  get schemas(): Json {
    return sorted(this.#schemas);
  }

  get responses(): Json {
    return sorted(this.#responses);
  }
}

function sorted(entries: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same schema with its references pointing into the components. */
function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string'
        ? item.replace('#/$defs/', '#/components/schemas/')
        : relocate(item),
    ]),
  );
}
