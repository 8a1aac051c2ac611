import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FuzzOperation, Schema, ServiceDocument } from './document.ts';
import type { FuzzRequest } from './request.ts';
import type { Received } from './send.ts';

/**
 * Requirements of a response, derived only from the documents. The oracle does not use the server's schemas, and its
 * validator is a different library.
 */

export interface Exchange {
  readonly service: ServiceDocument;
  readonly request: FuzzRequest;
  readonly received: Received;
  /** Operations that may have sent the response; odd paths may address several. */
  readonly operations: readonly FuzzOperation[];
  /** True if the request may address no operation or be malformed HTTP. */
  readonly odd: boolean;
  /** The only allowed status, such as 401 without a token. */
  readonly only?: number | undefined;
  /** True if the caller has sent a sufficient token. */
  readonly trusted: boolean;
}

const CORRELATION_HEADER = 'X-Correlation-ID';

/** Codes for requests without an operation and for malformed HTTP, as documented at the top of every document. */
const GENERAL: Readonly<Record<number, string>> = {
  400: 'HTTP400',
  403: 'HTTP403',
  404: 'HTTP404',
  405: 'HTTP405',
};

/** Sent before the request's ID can be read. */
const WITHOUT_REQUEST = new Set(['HTTP400', 'HTTP403', 'HTTP431']);

/** Allowed 5xx: the exchange of a job may be down, while all other dependencies are running. */
const EXCUSED = 'DATA004';
/** A call with its own short deadline may time out. */
const OWN_DEADLINE = /"deadline_ms":/;

/** Errors of a body that no schema can express: invalid JSON, and integers beyond a double. */
const BEYOND_SCHEMAS = new Set(['json_invalid', 'int_parsing_size']);

const LEAKS: readonly RegExp[] = [
  /\\n\s+at /,
  /\b(Type|Reference|Syntax|Range|Zod|Conformance|Assertion|Aggregate)Error\b/,
  /\b\w+Exception\b/,
  /node_modules|node:internal|\.ts:\d+/,
  /-----BEGIN|AWS_SECRET|"stack"/,
];

export class Oracle {
  readonly #validators = new Map<Schema, ValidateFunction>();

  /** Problems of a response, one line each; empty if it is valid. */
  problems(exchange: Exchange): string[] {
    const { received, only, trusted } = exchange;
    const { status } = received;
    const code = codeOf(received);
    const about = operationsProblems(this, exchange);
    return [
      ...about,
      ...headerProblems(exchange),
      ...(status >= 500 && !isExcused(exchange)
        ? [`${status} ${code ?? ''}: a server error or an unavailable service`]
        : []),
      ...(only !== undefined && status !== only ? [`${only} was due, not ${status}`] : []),
      ...(trusted && status === 401 ? ['401 with a token that holds'] : []),
      ...leakProblems(received),
      ...this.#requestProblems(exchange),
    ];
  }

  /** A body that fits the document, also with null in optional fields, must not be rejected for a missing field or a type. */
  #requestProblems({ service, request, received, operations }: Exchange): string[] {
    const { detail } = (parse(received.body) ?? {}) as { detail?: { type: string; loc: unknown[] }[] };
    const [operation, ...others] = operations;
    if (!Array.isArray(detail) || !operation?.body || others.length > 0 || !request.body) return [];
    const [issue] = detail.filter(({ type }) => !BEYOND_SCHEMAS.has(type));
    if (!issue || !this.#accepts(service, operation.body, parse(request.body))) return [];
    return [`the body fits its schema, and is rejected as ${issue.type} at ${issue.loc.join('.')}`];
  }

  #accepts(service: ServiceDocument, schema: Schema, value: unknown): boolean {
    return this.#validatorOf(schema, () => ({ ...schema, components: service.root.components }))(value);
  }

  /** Problems of a response as one of this operation. */
  answerProblems(operation: FuzzOperation, { request, received }: Exchange): string[] {
    const documented = operation.responses[received.status];
    if (!documented) return [`${operation.id} does not document status ${received.status}`];
    const required = Object.entries(documented.headers).filter(([, { required }]) => required);
    const missing = required.flatMap(([name, { schema }]) => {
      const value = received.headers[name.toLowerCase()];
      if (value === undefined) return [`the header ${name} is missing`];
      return this.#fits(operation.service, schema, value) ? [] : [`the header ${name} is ${value}`];
    });
    return [...missing, ...this.#bodyProblems(operation.service, documented.content, request, received)];
  }

  #bodyProblems(
    service: ServiceDocument,
    content: Readonly<Record<string, { readonly schema: Schema; readonly 'x-codes'?: readonly string[] }>>,
    { method }: FuzzRequest,
    { headers, body }: Received,
  ): string[] {
    if (method === 'HEAD') return body.length > 0 ? ['HEAD returns a body'] : [];
    if (Object.keys(content).length === 0) return body.length > 0 ? ['a body, where none is documented'] : [];
    const type = String(headers['content-type']).split(';')[0]!.trim();
    const media = content[type] ?? content['*/*'];
    if (!media) return [`content type ${type} is not documented`];
    if (type !== 'application/json') return [];
    const value = parse(body);
    if (value === undefined) return ['the body is not JSON'];
    const code = (value as { detail?: { code?: string } } | null)?.detail?.code;
    if (code !== undefined && media['x-codes']?.includes(code) === false) {
      return [`the code ${code} is not documented for this status`];
    }
    return this.#fits(service, media.schema, value)
      ? []
      : [`the body does not fit: ${this.#why(media.schema)}`];
  }

  /** Schema of a general error: the body that every document defines. */
  generalProblems({ service, request, received }: Exchange): string[] {
    const { status, headers } = received;
    const allow = status === 405 && !headers.allow ? ['405 without Allow'] : [];
    const name = isMlflow(parse(received.body)) ? 'MlflowError' : 'ErrorBody';
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
    return [...allow, ...this.#bodyProblems(service, content, request, received)];
  }

  #fits(service: ServiceDocument, schema: Schema, value: unknown): boolean {
    const whole = () => closed({ ...schema, components: service.root.components }) as Schema;
    return this.#validatorOf(schema, whole)(value);
  }

  #validatorOf(schema: Schema, whole: () => Schema): ValidateFunction {
    const known = this.#validators.get(schema);
    if (known) return known;
    // OpenAPI keywords outside JSON Schema are ignored by the validator.
    const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
    const validate = ajv.compile(whole());
    this.#validators.set(schema, validate);
    return validate;
  }

  #why(schema: Schema): string {
    const errors = this.#validators.get(schema)?.errors ?? [];
    return errors
      .slice(0, 3)
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
      .join('; ');
  }
}

function isExcused({ request, received }: Exchange): boolean {
  const code = codeOf(received);
  const hurried = code === 'SVC004' && OWN_DEADLINE.test(request.body?.toString('utf8') ?? '');
  return received.status === 503 && (code === EXCUSED || hurried);
}

function operationsProblems(oracle: Oracle, exchange: Exchange): string[] {
  const { received, odd, operations } = exchange;
  const general = GENERAL[received.status];
  const code = codeOf(received);
  const head = exchange.request.method === 'HEAD';
  if (odd && general && (code === general || head)) return oracle.generalProblems(exchange);
  const found = operations.map((operation) => oracle.answerProblems(operation, exchange));
  const fewest = found.sort((a, b) => a.length - b.length)[0];
  return fewest ?? [`${received.status} ${code ?? ''}, where no operation is addressed`];
}

function headerProblems({ request, received }: Exchange): string[] {
  const { headers, status } = received;
  const id = headers[CORRELATION_HEADER.toLowerCase()];
  const sent = request.headers[CORRELATION_HEADER];
  const kept = typeof sent !== 'string' || !/^[A-Za-z0-9._:-]{1,128}$/.test(sent) || sent === id;
  const due = { 401: 'www-authenticate', 429: 'retry-after', 503: 'retry-after' }[status];
  return [
    ...(id === undefined ? [`${CORRELATION_HEADER} is missing`] : []),
    ...(kept || WITHOUT_REQUEST.has(codeOf(received) ?? '')
      ? []
      : [`${CORRELATION_HEADER} ${sent} came back as ${id}`]),
    ...(due && headers[due] === undefined ? [`${status} without ${due}`] : []),
  ];
}

function leakProblems({ headers, body }: Received): string[] {
  if (!String(headers['content-type']).startsWith('application/json')) return [];
  const text = body.toString('utf8');
  return LEAKS.flatMap((leak) => leak.exec(text)?.[0] ?? []).map(
    (found) => `the body exposes internals: ${found}`,
  );
}

/** Schema of either error shape, or of a function's own shape. */
function codeOf({ body }: Received): string | undefined {
  const value = parse(body) as any;
  if (isMlflow(value)) return /\((\w+)\)$/.exec(value.message)?.[1] ?? GENERAL[404];
  return value?.detail?.code ?? value?.error?.code;
}

/** An error of a path for MLflow's client: its message ends with the code, and one without is that of an unknown path. */
function isMlflow(value: unknown): value is { readonly message: string } {
  return typeof value === 'object' && value !== null && 'error_code' in value;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Copy of the schemas with every object closed unless it is declared open: documents name all returned fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, closed(each)] as const);
  const schema = Object.fromEntries(entries) as Record<string, unknown>;
  const open = schema.additionalProperties !== undefined;
  return schema.type === 'object' && schema.properties && !open
    ? { ...schema, additionalProperties: false }
    : schema;
}
