import { expect, test } from 'vitest';
import { pythonModules } from '../../bin/generate/python-client.ts';

/** Modules of a document with the cases that differ from one language to the other. */
function modulesOf(parameters: readonly object[], schemas: Readonly<Record<string, object>>) {
  const operation = {
    operationId: 'listThings',
    summary: 'List things',
    parameters,
    responses: {
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
    },
  };
  const document = { paths: { '/things/{name}': { get: operation } }, components: { schemas } };
  const [types, operations] = Object.values(
    pythonModules([{ name: 'data_collection', title: 'Things', description: 'A service.', document }]),
  );
  return { types: types!, operations: operations! };
}

test('a method has its path variables first, and names that are no keywords', () => {
  const { operations } = modulesOf(
    [
      { name: 'from', in: 'query', schema: { type: 'string' } },
      { name: 'symbols', in: 'query', required: true, schema: { type: 'array', items: { type: 'string' } } },
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      { $ref: '#/components/parameters/Idempotency-Key' },
    ],
    {},
  );
  expect(operations).toContain('class DataCollection:\n    """Things. A service."""');
  expect(operations).toContain(
    'def list_things(self, name: str, *, symbols: list[str], from_: str | None = None, idempotency_key: str | None = None) -> types.Thing:',
  );
  expect(operations).toContain('path_values={"name": name}, query={"symbols": symbols, "from": from_}');
});

test('a schema is a TypedDict whose optional fields need not be given', () => {
  const { types } = modulesOf([], {
    Thing: {
      type: 'object',
      required: ['kind', 'parts'],
      properties: {
        kind: { enum: ['a', null], description: 'Ends with "a"' },
        parts: {
          type: 'array',
          items: { type: 'object', properties: { size: { type: ['number', 'null'] } } },
        },
        other: { anyOf: [{ $ref: '#/components/schemas/Other' }, { type: 'null' }] },
        free: { type: 'object', additionalProperties: {} },
      },
    },
    Other: { type: 'object', properties: { from: { type: 'integer' } }, required: ['from'] },
  });
  expect(types).toContain(`class Thing(TypedDict):
    kind: Literal["a"] | None
    """Ends with "a\\""""
    parts: list[ThingPartsItem]
    other: NotRequired[Other | None]
    free: NotRequired[dict[str, Any]]
`);
  expect(types).toContain('class ThingPartsItem(TypedDict):\n    size: NotRequired[float | None]\n');
  expect(types).toContain('Other = TypedDict("Other", {\n    "from": "int",\n})');
});
