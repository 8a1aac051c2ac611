/** OpenAPI document of a service, as the running service serves it. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Schema = { readonly [key: string]: any };

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface DocumentedResponse {
  /** Content type -> schema. */
  readonly content: Readonly<
    Record<string, { readonly schema: Schema; readonly 'x-codes'?: readonly string[] }>
  >;
  readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
}

export interface FuzzOperation {
  readonly id: string;
  readonly service: ServiceDocument;
  readonly method: string;
  /** Path with `{variables}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** By status. */
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
  /** True if a stage that enforces authentication requires a token or a signature. */
  readonly secured: boolean;
  /** Least role, null if none is named. */
  readonly role: string | null;
}

export interface ServiceDocument {
  /** Base URL without a trailing slash. */
  readonly base: string;
  readonly root: Schema;
  readonly operations: readonly FuzzOperation[];
  /** Resolves a reference; returns other values unchanged. */
  resolve(schema: Schema): Schema;
}

/** Reads the document of the service at `base`. Throws if it has none. */
export async function readDocument(base: string): Promise<ServiceDocument> {
  const response = await fetch(`${base}/openapi.json`);
  if (response.status !== 200) throw new Error(`${base}/openapi.json answers ${response.status}`);
  return parseDocument(base, (await response.json()) as Schema);
}

export function parseDocument(base: string, root: Schema): ServiceDocument {
  const resolve = (schema: Schema): Schema => {
    if (typeof schema.$ref !== 'string') return schema;
    const parts = schema.$ref.slice(2).split('/');
    const found = parts.reduce<Schema | undefined>((node, key) => node?.[key], root);
    if (!found) throw new Error(`${schema.$ref} refers to nothing`);
    const { $ref: _, ...rest } = schema;
    return { ...resolve(found), ...rest };
  };
  const operations: FuzzOperation[] = [];
  const document: ServiceDocument = { base, root, operations, resolve };
  for (const [path, methods] of Object.entries<Schema>(root.paths)) {
    for (const [method, operation] of Object.entries<Schema>(methods)) {
      operations.push(readOperation(document, path, method.toUpperCase(), operation));
    }
  }
  return document;
}

function readOperation(
  service: ServiceDocument,
  path: string,
  method: string,
  operation: Schema,
): FuzzOperation {
  const { resolve } = service;
  const responses = Object.entries<Schema>(operation.responses).map(([status, entry]) => {
    const { content = {}, headers = {} } = resolve(entry);
    const named = Object.entries<Schema>(headers).map(([name, header]) => [name, resolve(header)]);
    return [status, { content, headers: Object.fromEntries(named) }];
  });
  const security: readonly Schema[] = operation.security ?? [];
  return {
    id: operation.operationId,
    service,
    method,
    path,
    parameters: (operation.parameters ?? []).map(resolve),
    body: operation.requestBody?.content['application/json'].schema,
    responses: Object.fromEntries(responses),
    secured: security.length > 0,
    role: security.flatMap(({ bearer }) => bearer ?? [])[0] ?? null,
  };
}

/** Operation that a path without odd characters addresses. */
export function operationAt(
  service: ServiceDocument,
  method: string,
  path: string,
): FuzzOperation | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const fits = service.operations.filter(
    (operation) => operation.method === wanted && matches(operation, path),
  );
  // A literal segment precedes a variable.
  return fits.sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}

function matches(operation: FuzzOperation, path: string): boolean {
  const wanted = operation.path.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) =>
      segment.startsWith('{') ? given[index] !== '' : segment === given[index],
    )
  );
}
