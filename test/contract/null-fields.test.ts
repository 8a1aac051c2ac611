import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isAbsentWhenNull, withoutNullFields } from '#contract/null-fields.ts';
import { openApiDocument } from '#contract/openapi.ts';
import type { ServiceName } from '#contract/operation.ts';
import { operationsOf } from '#contract/operations.ts';

/** Fields in which null says something of its own, as their descriptions tell. */
const MEANINGFUL = [
  'submitBacktest config.trailing',
  'promoteVersion expected_production',
  'rollbackModel expected_production',
];

type Json = any;

const SERVICES: readonly ServiceName[] = ['backend', 'strategy', 'data_collection'];
const BODIES = SERVICES.flatMap((service) => {
  const document: Json = JSON.parse(JSON.stringify(openApiDocument(service, '1')));
  return operationsOf(service)
    .filter((row) => 'body' in row)
    .map((row) => {
      const { requestBody } = document.paths[row.path][row.method.toLowerCase()];
      const schema = requestBody.content['application/json'].schema;
      return { id: row.id, body: (row as { body: z.ZodType }).body, schema, document };
    });
});

/** The properties that the document describes, each with the path to it; those of a list by its first item. */
function* properties(schema: Json, document: Json, path: string[] = []): Generator<[string[], Json]> {
  const { $ref, ...own } = schema;
  const found = $ref
    ? $ref
        .slice(2)
        .split('/')
        .reduce((node: Json, key: string) => node[key], document)
    : {};
  const whole = { ...found, ...own };
  for (const [name, each] of Object.entries<Json>(whole.properties ?? {})) {
    yield [[...path, name], each];
    yield* properties(each, document, [...path, name]);
  }
  for (const branch of whole.anyOf ?? []) yield* properties(branch, document, path);
  if (whole.items) yield* properties(whole.items, document, [...path, '0']);
}

/** A value with null at the end of the path and as little as possible on the way. */
function nullAt([key, ...rest]: readonly string[]): Json {
  if (key === undefined) return null;
  return key === '0' ? [nullAt(rest)] : { [key]: nullAt(rest) };
}

/** Whether null at the path is refused itself: a field that one of several must give is refused as missing. */
function refusesNull(body: z.ZodType, path: readonly string[]): boolean {
  const { error } = body.safeParse(withoutNullFields(body, nullAt(path)));
  const own = error?.issues.filter((issue) => issue.path.join('.') === path.join('.')) ?? [];
  return own.some(({ message }) => !message.includes('received undefined'));
}

describe.each(BODIES)('the body of $id', ({ id, body, schema, document }) => {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  const takesNull = (property: Json) => ajv.validate({ ...property, components: document.components }, null);

  it('takes null exactly where its document says so', () => {
    const described = new Map<string, boolean>();
    for (const [path, property] of properties(schema, document)) {
      const name = path.join('.');
      described.set(name, (described.get(name) ?? false) || takesNull(property));
    }
    expect(described.size).toBeGreaterThan(0);
    for (const [name, nullable] of described) {
      expect([name, refusesNull(body, name.split('.'))]).toEqual([name, !nullable]);
    }
  });

  it('keeps null only where it has a meaning', () => {
    for (const [path, property] of properties(schema, document)) {
      if (!takesNull(property)) continue;
      const read = path.reduce<Json>((node, key) => node?.[key], withoutNullFields(body, nullAt(path)));
      const meaningful = MEANINGFUL.includes(`${id} ${path.join('.')}`);
      expect([path, read]).toEqual([path, meaningful ? null : undefined]);
    }
  });
});

describe('null in a field', () => {
  const Body = z.looseObject({
    required: z.string(),
    optional: z.int().optional(),
    nullable: z.int().nullable().optional(),
    anything: z.unknown(),
    list: z.array(z.looseObject({ optional: z.string().optional() })).optional(),
    table: z.record(z.string(), z.looseObject({ optional: z.string().optional() })).optional(),
  });

  it('is absence where the field is optional and no null of its own, at every depth', () => {
    const sent = {
      ...{ required: null, optional: null, nullable: null, anything: null, unknown: null },
      list: [{ optional: null, other: null }, null],
      table: { row: { optional: null }, empty: null },
    };
    expect(withoutNullFields(Body, sent)).toEqual({
      ...{ required: null, nullable: null, anything: null, unknown: null },
      list: [{ other: null }, null],
      table: { row: {}, empty: null },
    });
  });

  it('leaves values of other types to the schema', () => {
    for (const value of [null, 'text', 7, [null], { list: 'x', table: [null] }]) {
      expect(withoutNullFields(Body, value)).toEqual(value);
    }
    expect(isAbsentWhenNull(Body.shape.anything)).toBe(false);
  });
});
