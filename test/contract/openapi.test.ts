import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { BacktestRequest } from '#contract/backtests/backtest-api.ts';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { operationsOf } from '#contract/operations/operations.ts';
import { CORRELATION_HEADER, SERVICES } from '#contract/values/names.ts';
import { documentedErrors } from '#contract/values/operation.ts';
import { ALL_TIMEFRAMES } from '#contract/values/timeframes.ts';
import { VERSION } from '#runtime/version.ts';

/** Operations whose body has no required field, or whose use case reports it as VAL004. */
const MAY_BE_EMPTY = [
  'previewImport',
  'startImport',
  'approveRequest',
  'declineRequest',
  'withdrawRequest',
  'updateWebhook',
  'advanceChallenge',
  'holdChallenge',
  'resumeChallenge',
  'promoteChallenge',
  'rollBackChallenge',
  'rollbackModel',
  'stopModel',
  'keepBacktest',
  'keepHyperopt',
  'updateBacktest',
  'labelVersion',
];

type Schema = Record<string, unknown>;
interface Response {
  description: string;
  headers: Record<string, unknown>;
  content: Record<
    string,
    { schema: unknown; 'x-codes'?: string[]; examples?: Record<string, { value: unknown }> }
  >;
}
interface Op {
  operationId: string;
  parameters: { $ref?: string; name?: string; in?: string; required?: boolean; schema?: unknown }[];
  requestBody?: unknown;
  responses: Record<string, Response | { $ref: string }>;
  security: unknown[];
}
interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Op>>;
  components: Record<string, Record<string, unknown>>;
}

describe.each(['backend', 'strategy', 'data_collection'] as const)(
  'schemas for generators of clients, %s',
  (service) => {
    const { paths, components } = openApiDocument(service, VERSION) as unknown as Document;
    const schemas = schemasOf([components.schemas, bodiesOf(paths)]);
    const everything = schemasOf([components, paths]);

    it('fields have no default, which would make them required', () => {
      expect(schemas.length).toBeGreaterThan(20);
      expect(schemas.filter((schema) => schema.default !== undefined && schema.type !== undefined)).toEqual(
        [],
      );
    });

    it('strings are enumerations instead of constants, and arrays have items', () => {
      expect(schemas.filter((schema) => typeof schema.const === 'string' || schema.items === false)).toEqual(
        [],
      );
    });

    it('objects have no alternatives beside their fields, and enumerations no null', () => {
      expect(schemas.filter((schema) => schema.properties && (schema.anyOf ?? schema.oneOf))).toEqual([]);
      expect(schemas.filter((schema) => [schema.enum].flat().includes(null))).toEqual([]);
    });

    it('no schema has the name of a type of TypeScript, which a generator renames in some files only', () => {
      const names = Object.keys(components.schemas!);
      expect(names.filter((name) => name in globalThis || name === 'Record')).toEqual([]);
    });

    it('no union is an alternative of another one', () => {
      const unions = everything.flatMap(({ anyOf, oneOf }) =>
        [anyOf, oneOf].filter(Array.isArray),
      ) as Schema[][];
      expect(unions.length).toBeGreaterThan(5);
      expect(unions.flat().filter((branch) => 'anyOf' in branch || 'oneOf' in branch)).toEqual([]);
    });

    it('no boolean is a constant, which Java reads as a text', () => {
      const booleans = everything.filter(({ type }) => type === 'boolean');
      expect(booleans.length).toBeGreaterThan(0);
      expect(booleans.filter((schema) => 'const' in schema || 'enum' in schema)).toEqual([]);
    });

    it('no map of typed values is one of several types, for which Java has no name', () => {
      const unions = everything.flatMap(({ anyOf }) => (Array.isArray(anyOf) ? [anyOf as Schema[]] : []));
      const several = unions.filter((union) => union.filter(({ type }) => type !== 'null').length > 1);
      expect(several.flat().filter((each) => !each.properties && each.additionalProperties)).toEqual([]);
    });

    it('no text with a format has a pattern, which Python would match against a time', () => {
      expect(everything.filter((schema) => schema.format !== undefined && 'pattern' in schema)).toEqual([]);
    });

    it('files have a type that generators read as bytes', () => {
      for (const { content } of Object.values(paths).flatMap((methods) =>
        Object.values(methods).flatMap(({ responses }) => Object.values(responses) as Response[]),
      )) {
        if (content?.['*/*']) expect(Object.keys(content)[0]).toBe('application/octet-stream');
      }
    });

    it('errors refer to a named body', () => {
      for (const response of Object.values(components.responses!) as Response[]) {
        const { schema } = response.content['application/json']! as { schema: { oneOf?: object[] } };
        for (const each of schema.oneOf ?? [schema]) expect(Object.keys(each)).toEqual(['$ref']);
      }
    });
  },
);

describe.each(['backend', 'data_collection'] as const)('OpenAPI document of %s', (service) => {
  const document = JSON.parse(JSON.stringify(openApiDocument(service, VERSION))) as Document;
  const resolve = (ref: string) =>
    ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)?.[key], document);
  const operations = operationsOf(service).map((row) => ({
    row,
    documented: document.paths[row.path]![row.method.toLowerCase()]!,
  }));

  it('OpenAPI document equals the committed file', () => {
    const path = `docs/openapi/${SERVICES[service].document}.json`;
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it('OpenAPI document resolves every reference and has no unused component', () => {
    const refs = new Set(strings(document, '$ref'));
    for (const ref of refs) expect(resolve(ref), ref).toBeDefined();
    const { securitySchemes: _, ...components } = document.components;
    const names = Object.entries(components).flatMap(([kind, entries]) =>
      Object.keys(entries).map((name) => `#/components/${kind}/${name}`),
    );
    expect(names.filter((name) => !refs.has(name))).toEqual([]);
  });

  it("component names match OpenAPI's pattern", () => {
    for (const entries of Object.values(document.components)) {
      for (const name of Object.keys(entries)) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
    }
  });

  it('OpenAPI document contains exactly the operations of the table', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(operations.map(({ row }) => `${row.method} ${row.path}`).sort());
  });

  it('every request and response has the correlation header', () => {
    for (const { documented } of operations) {
      expect(documented.parameters).toContainEqual({ $ref: `#/components/parameters/${CORRELATION_HEADER}` });
      for (const response of Object.values(documented.responses)) {
        const { headers } = ('$ref' in response ? resolve(response.$ref) : response) as Response;
        expect(headers).toHaveProperty([CORRELATION_HEADER]);
      }
    }
  });

  /** MLflow's client reads errors of its own shape. */
  const isMlflow = ({ path }: { readonly path: string }) => path.startsWith('/api/2.0/');

  it('every operation documents each of its statuses and codes', () => {
    for (const { row, documented } of operations) {
      const errors = documentedErrors(row);
      const statuses = new Set([...Object.keys(row.success), ...errors.map(({ status }) => String(status))]);
      if (row.body) statuses.add('400');
      expect(new Set(Object.keys(documented.responses))).toEqual(statuses);
      for (const { code, status } of errors) {
        const { $ref } = documented.responses[status] as { $ref: string };
        const media = (resolve($ref) as Response).content['application/json']!;
        if (isMlflow(row)) {
          expect(media.schema).toEqual({ $ref: '#/components/schemas/MlflowError' });
          continue;
        }
        expect(media['x-codes']).toContain(code);
        expect(media.examples?.[code]?.value).toMatchObject({ detail: { code } });
      }
    }
  });

  it('400 response shows both error shapes when the operation has a body', () => {
    for (const { row, documented } of operations) {
      if (row.integration || isMlflow(row)) continue;
      const bad = documented.responses[400] as { $ref: string } | undefined;
      const refs = bad ? strings(resolve(bad.$ref), '$ref') : [];
      expect(refs.includes('#/components/schemas/RequestValidationError')).toBe(row.body !== undefined);
      expect(documented.requestBody !== undefined).toBe(row.body !== undefined);
      if (row.body)
        expect(documented.requestBody).toMatchObject({ required: !MAY_BE_EMPTY.includes(row.id) });
    }
  });

  it("error responses show the function's shape in addition to the gateway's", () => {
    for (const { row, documented } of operations.filter(({ row }) => row.integration)) {
      for (const status of new Set(documentedErrors(row).map((error) => String(error.status)))) {
        const { $ref } = documented.responses[status] as { $ref: string };
        expect(strings(resolve($ref), '$ref')).toEqual(
          expect.arrayContaining(['#/components/schemas/ErrorBody', '#/components/schemas/ProxyAnswer']),
        );
      }
    }
  });

  it('security names the least role, optionally, unless the operation is public', () => {
    for (const { row, documented } of operations) {
      const proof = row.integration ? { sigv4: [] } : { bearer: [row.access] };
      expect(documented.security).toEqual(row.access === 'public' ? [] : [proof, {}]);
    }
  });

  it('every path variable is declared', () => {
    for (const { row, documented } of operations) {
      const declared = documented.parameters.filter(({ in: place }) => place === 'path');
      expect(declared.map(({ name }) => `{${name}}`)).toEqual(row.path.match(/\{\w+\}/g) ?? []);
      for (const { required } of declared) expect(required).toBe(true);
    }
  });

  it('server URL is relative to the document', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: VERSION }, servers: [{ url: '.' }] });
  });
});

describe('parameters and bodies', () => {
  const { paths, components } = openApiDocument('backend', VERSION) as unknown as Document;

  it('parameters state the enforced bounds', () => {
    const parameters = paths['/api/v1/backtests']!.get!.parameters;
    expect(parameters[0]).toMatchObject({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
    expect(parameters[2]!.schema).toMatchObject({
      enum: ['pending', 'running', 'completed', 'failed', 'cancelled'],
    });
  });

  it('examples are valid', () => {
    const { examples = [] } = z.globalRegistry.get(BacktestRequest) as { examples?: unknown[] };
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(BacktestRequest.safeParse(example).success).toBe(true);
  });

  it('BacktestRequest requires only config.strategy and states the bounds of use cases', () => {
    expect(components.schemas!.BacktestRequest).toMatchObject({
      required: ['config'],
      properties: { priority: { type: ['integer', 'null'], minimum: 1, maximum: 10, 'x-default': 5 } },
    });
    expect(components.schemas!.BacktestConfig).toMatchObject({
      required: ['strategy'],
      properties: {
        timeframe: {
          anyOf: [{ type: 'string', enum: [...ALL_TIMEFRAMES] }, { type: 'null' }],
        },
        leverage: { maximum: 125 },
      },
    });
  });
});

/** All values of that key at any depth. */
function strings(value: unknown, key: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => strings(item, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name === key && (typeof item === 'string' || key === 'enum') ? [item as string] : strings(item, key),
  );
}

/** Bodies of requests. */
function bodiesOf(paths: Document['paths']): unknown[] {
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ requestBody }) => requestBody),
  );
}

/** All objects at any depth: the schemas, and what is between them. */
function schemasOf(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) =>
    key === 'examples' || key === 'x-default' ? [] : schemasOf(each),
  );
  return Array.isArray(value) ? inner : [value as Schema, ...inner];
}
