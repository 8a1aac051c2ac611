import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isAbsentWhenNull, withoutNullFields } from '#contract/common/null-fields.ts';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { operationsOf } from '#contract/operations/operations.ts';
import type { ServiceName } from '#contract/values/operation.ts';

/** Fields in which null has its own meaning, see their descriptions. */
const MEANINGFUL = [
  'submitBacktest config.trailing',
  'submitBacktest config.timeframe_detail',
  'submitBacktest config.available_capital',
  'startHyperopt available_capital',
  'submitBacktest config.ignore_entry_after_candles',
  'startHyperopt ignore_entry_after_candles',
  'submitBacktest config.max_adjustments',
  'startHyperopt max_adjustments',
  'promoteVersion expected_production',
  'rollbackModel expected_production',
  'requestApproval expected_production',
  'stopModel expected_production',
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

/** Properties that the document describes, each with its path; for a list those of its first item. */
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

/** Smallest value with null at the end of the path. */
function nullAt([key, ...rest]: readonly string[]): Json {
  if (key === undefined) return null;
  return key === '0' ? [nullAt(rest)] : { [key]: nullAt(rest) };
}

/** True if null is rejected at the path. Excludes the rejection of a missing field that one of several must set. */
function rejectsNull(body: z.ZodType, path: readonly string[]): boolean {
  const { error } = body.safeParse(withoutNullFields(body, nullAt(path)));
  const own = error?.issues.filter((issue) => issue.path.join('.') === path.join('.')) ?? [];
  return own.some(({ message }) => !message.includes('received undefined'));
}

describe.each(BODIES)('request body of $id', ({ id, body, schema, document }) => {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  const takesNull = (property: Json) => ajv.validate({ ...property, components: document.components }, null);

  it('request body accepts null exactly where its document allows it', () => {
    const described = new Map<string, boolean>();
    for (const [path, property] of properties(schema, document)) {
      const name = path.join('.');
      described.set(name, (described.get(name) ?? false) || takesNull(property));
    }
    expect(described.size).toBeGreaterThan(0);
    for (const [name, nullable] of described) {
      expect([name, rejectsNull(body, name.split('.'))]).toEqual([name, !nullable]);
    }
  });

  it('withoutNullFields keeps null only where it has a meaning', () => {
    for (const [path, property] of properties(schema, document)) {
      if (!takesNull(property)) continue;
      const read = path.reduce<Json>((node, key) => node?.[key], withoutNullFields(body, nullAt(path)));
      const meaningful = MEANINGFUL.includes(`${id} ${path.join('.')}`);
      expect([path, read]).toEqual([path, meaningful ? null : undefined]);
    }
  });
});

describe('withoutNullFields', () => {
  const Body = z.looseObject({
    required: z.string(),
    optional: z.int().optional(),
    nullable: z.int().nullable().optional(),
    anything: z.unknown(),
    list: z.array(z.looseObject({ optional: z.string().optional() })).optional(),
    table: z.record(z.string(), z.looseObject({ optional: z.string().optional() })).optional(),
  });

  it('withoutNullFields removes null from optional, non-nullable fields at every depth', () => {
    const sent = {
      required: null,
      optional: null,
      nullable: null,
      anything: null,
      unknown: null,
      list: [{ optional: null, other: null }, null],
      table: { row: { optional: null }, empty: null },
    };
    expect(withoutNullFields(Body, sent)).toEqual({
      required: null,
      nullable: null,
      anything: null,
      unknown: null,
      list: [{ other: null }, null],
      table: { row: {}, empty: null },
    });
  });

  it('withoutNullFields leaves values of other types unchanged', () => {
    for (const value of [null, 'text', 7, [null], { list: 'x', table: [null] }]) {
      expect(withoutNullFields(Body, value)).toEqual(value);
    }
    expect(isAbsentWhenNull(Body.shape.anything)).toBe(false);
  });
});
