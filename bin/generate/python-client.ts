import { SESSION_HEADER, type Service } from '#contract/values/names.ts';

/** Generated part of the Python client: the types of all schemas, and a method for each operation. */

/** Part of a JSON Schema that the OpenAPI documents use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | null)[];
  readonly const?: string | number;
  readonly 'x-const'?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-additional-properties'?: Schema;
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Folder of the modules, from the root of the repository. */
const FOLDER = 'clients/python/src/touchstone_client';
const NOTICE = '# Written by `npm run openapi` from the OpenAPI documents: do not edit.\n# ruff: noqa';
const KEYWORDS = new Set([
  'False',
  'None',
  'True',
  'and',
  'as',
  'assert',
  'async',
  'await',
  'break',
  'class',
  'continue',
  'def',
  'del',
  'elif',
  'else',
  'except',
  'finally',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'lambda',
  'nonlocal',
  'not',
  'or',
  'pass',
  'raise',
  'return',
  'try',
  'while',
  'with',
  'yield',
]);

/** A service, and its OpenAPI document. */
type Documented = Pick<Service, 'title' | 'description'> & {
  readonly name: string;
  readonly document: object;
};

/** Text of each generated module by its path. Schemas of equal name are equal in all documents. */
export function pythonModules(services: readonly Documented[]): Readonly<Record<string, string>> {
  const types = new Types();
  const classes = services.map((service) => serviceClass(service, types));
  const schemas = services.map(({ document }) => (document as Document).components.schemas);
  for (const [name, schema] of Object.entries(Object.assign({}, ...schemas) as Record<string, Schema>)) {
    types.define(name, schema);
  }
  return { [`${FOLDER}/types.py`]: types.module(), [`${FOLDER}/operations.py`]: operationsModule(classes) };
}

function operationsModule(classes: readonly string[]): string {
  return [
    '"""A method for each operation of the services. `Touchstone` has comfort on top of them."""',
    NOTICE,
    '',
    'from __future__ import annotations',
    '',
    'from collections.abc import Iterator',
    'from typing import Any, Literal',
    '',
    'from . import types',
    'from .connection import Connection, Event',
    '',
    ...classes.flatMap((text) => ['', text]),
  ].join('\n');
}

function serviceClass({ name, title, description, document }: Documented, types: Types): string {
  const { paths } = document as Document;
  const methods = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // The same operation at a second path.
      .filter(([, { operationId }]) => !operationId.endsWith('AtRoot'))
      .map(([method, operation]) => methodOf(method.toUpperCase(), path, operation, types)),
  );
  return [
    `class ${pascal(name)}:`,
    `    """${title}. ${description}"""`,
    '',
    '    def __init__(self, connection: Connection) -> None:',
    '        self._connection = connection',
    '',
    `    _service = ${quoted(name)}`,
    ...methods.flatMap((text) => ['', text]),
    '',
  ].join('\n');
}

function methodOf(method: string, path: string, operation: Operation, types: Types): string {
  const { operationId, requestBody } = operation;
  const owner = pascal(operationId);
  const own = operation.parameters.filter((each): each is Parameter => 'name' in each);
  const typed = own.map((each) => ({
    ...each,
    as: identifier(each.name),
    type: types.of(each.schema, `${owner}${pascal(each.name)}`, 'types.'),
  }));
  const variables = typed.filter((each) => each.in === 'path');
  // Required ones first: a parameter without a default cannot follow one with a default.
  const query = typed
    .filter((each) => each.in === 'query')
    .sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false));
  const refers = (header: string) =>
    operation.parameters.some((each) => '$ref' in each && each.$ref.endsWith(`/${header}`));
  const hasKey = refers('Idempotency-Key');
  const hasSession = refers(SESSION_HEADER);
  const body = requestBody?.content['application/json']?.schema;
  const bodyType = body && types.of(body, `${owner}Body`, 'types.');
  const options = [
    ...query.map(({ as, type, required }) =>
      required ? `${as}: ${type}` : `${as}: ${optional(type)} = None`,
    ),
    ...(hasKey ? ['idempotency_key: str | None = None'] : []),
    ...(hasSession ? ['session: str | None = None'] : []),
  ];
  const signature = [
    'self',
    ...variables.map(({ as, type }) => `${as}: ${type}`),
    ...(bodyType ? [requestBody.required ? `body: ${bodyType}` : `body: ${optional(bodyType)} = None`] : []),
    ...(options.length > 0 ? ['*', ...options] : []),
  ];
  const { reader, result } = responseOf(operation, owner, types);
  const values = (list: typeof typed) =>
    `{${list.map(({ name, as }) => `${quoted(name)}: ${as}`).join(', ')}}`;
  const call = [
    'self._service',
    quoted(method),
    quoted(path),
    ...(variables.length > 0 ? [`path_values=${values(variables)}`] : []),
    ...(query.length > 0 ? [`query=${values(query)}`] : []),
    ...(bodyType ? ['body=body'] : []),
    ...(hasKey ? ['key=idempotency_key', 'keyed=True'] : []),
    ...(hasSession ? ['session=session'] : []),
  ];
  return [
    `    def ${snake(operationId)}(${signature.join(', ')}) -> ${result}:`,
    ...docstring(operation, typed, '        '),
    `        return self._connection.${reader}(${call.join(', ')})`,
  ].join('\n');
}

/** Method of `Connection` that reads the response, and the type of what it returns. */
function responseOf(
  { responses }: Operation,
  owner: string,
  types: Types,
): { reader: string; result: string } {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.entries(content));
  const kinds = contents.map(([type]) => type);
  if (kinds.includes('text/event-stream')) return { reader: 'stream', result: 'Iterator[Event]' };
  if (kinds.includes('*/*')) return { reader: 'file', result: 'bytes' };
  if (kinds.length > 0 && !kinds.includes('application/json')) return { reader: 'text', result: 'str' };
  const of = contents.map(([, { schema }]) => types.of(schema, `${owner}Response`, 'types.'));
  return of.length === 0
    ? { reader: 'empty', result: 'None' }
    : { reader: 'json', result: [...new Set(of)].join(' | ') };
}

function docstring(
  { summary, description }: Pick<Operation, 'summary' | 'description'>,
  parameters: readonly { readonly as: string; readonly in: string; readonly description?: string }[],
  indent: string,
): string[] {
  const named = parameters.filter((each) => each.in !== 'header' && each.description);
  const lines = [
    `"""${escaped(summary)}.`,
    ...(description ? ['', ...escaped(description).split('\n')] : []),
    ...(named.length > 0
      ? ['', ...named.map((each) => `:param ${each.as}: ${escaped(each.description!).replaceAll('\n', ' ')}`)]
      : []),
  ];
  return lines.length === 1
    ? [`${indent}${lines[0]}"""`]
    : [...lines.map((line) => (line ? indent + line : '')), `${indent}"""`];
}

/** Types of the schemas, one name each; the inline ones are named by where they are. */
class Types {
  readonly #texts = new Map<string, string>();
  readonly #shapes = new Map<string, string>();

  define(name: string, schema: Schema): void {
    if (this.#shapes.has(name)) return;
    if (isRecord(schema)) {
      this.#record(name, schema);
      return;
    }
    this.#shapes.set(name, JSON.stringify(schema));
    const type = this.of(schema, `${name}Item`, '');
    this.#texts.set(name, `${name}: TypeAlias = ${quoted(type)}${comment(schema.description, '')}`);
  }

  /** Type of a schema. `prefix` is that of the module's names. */
  of(schema: Schema, name: string, prefix: string): string {
    const { $ref, enum: values, items, additionalProperties } = schema;
    const constant = schema.const ?? schema['x-const'];
    if ($ref) return prefix + $ref.split('/').at(-1)!;
    if (values) return literal(values);
    if (constant !== undefined) return literal([constant]);
    if (isRecord(schema)) {
      const record = prefix + this.#record(name, schema);
      return [schema.type ?? []].flat().includes('null') ? optional(record) : record;
    }
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches) return union(branches.map((each, index) => this.of(each, `${name}${index + 1}`, prefix)));
    const named = (type: string) => {
      if (type === 'array') return `list[${items ? this.of(items, `${name}Item`, prefix) : 'Any'}]`;
      if (type !== 'object') return PRIMITIVES[type]!;
      const values = schema['x-additional-properties'] ?? additionalProperties;
      return `dict[str, ${this.of(typeof values === 'object' ? values : {}, `${name}Value`, prefix)}]`;
    };
    const kinds = [schema.type ?? []].flat();
    return kinds.length === 0 ? 'Any' : union(kinds.map(named));
  }

  /** Name of a `TypedDict` for an object. Equal objects at equally named places share it. */
  #record(wanted: string, schema: Schema): string {
    const shape = JSON.stringify({ ...schema, description: undefined });
    let name = wanted;
    for (let copy = 2; this.#shapes.has(name) && this.#shapes.get(name) !== shape; copy++) {
      name = `${wanted}${copy}`;
    }
    if (this.#shapes.has(name)) return name;
    this.#shapes.set(name, shape);
    const { properties = {}, required = [], description } = schema;
    const fields = Object.entries(properties).map(([field, each]) => {
      const type = this.of(each, name + pascal(field), '');
      return {
        field,
        text: each.description,
        type: required.includes(field) ? type : `NotRequired[${type}]`,
      };
    });
    this.#texts.set(name, recordText(name, fields, description));
    return name;
  }

  module(): string {
    const texts = [...this.#texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    return [
      '"""Types of requests and responses."""',
      NOTICE,
      '',
      'from __future__ import annotations',
      '',
      'import sys',
      'from typing import Any, Literal, TypeAlias, TypedDict',
      '',
      'if sys.version_info >= (3, 11):',
      '    from typing import NotRequired',
      'else:',
      '    from typing_extensions import NotRequired',
      '',
      ...texts.flatMap((text) => ['', text, '']),
    ]
      .join('\n')
      .replace(/\n+$/, '\n');
  }
}

interface Field {
  readonly field: string;
  readonly type: string;
  readonly text: string | undefined;
}

function recordText(name: string, fields: readonly Field[], description: string | undefined): string {
  const isClass = fields.every(({ field }) => field === identifier(field) && !KEYWORDS.has(field));
  if (!isClass) {
    const entries = fields.map(({ field, type }) => `    ${quoted(field)}: ${quoted(type)},`);
    return [`${name} = TypedDict(${quoted(name)}, {`, ...entries, '})'].join('\n') + comment(description, '');
  }
  const documentation = description ? [`    """${escaped(description)}"""`, ''] : [];
  const lines = fields.map(({ field, type, text }) => `    ${field}: ${type}${comment(text, '    ')}`);
  return [
    `class ${name}(TypedDict):`,
    ...documentation,
    ...lines,
    ...(fields.length ? [] : ['    pass']),
  ].join('\n');
}

/** Documentation of a name, as editors show it. */
function comment(text: string | undefined, indent: string): string {
  return text ? `\n${indent}"""${escaped(text)}"""` : '';
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/** An object with named fields. Alternatives beside the fields only say which of them are required together. */
const isRecord = ({ properties }: Schema) => properties !== undefined && Object.keys(properties).length > 0;
const union = (types: readonly string[]) => {
  const parts = new Set(types.flatMap((type) => splitUnion(type)));
  // Any includes everything else.
  if (parts.has('Any')) return 'Any';
  return [...[...parts].filter((part) => part !== 'None'), ...(parts.has('None') ? ['None'] : [])].join(
    ' | ',
  );
};
/** Parts of a union, which may have further ones inside brackets. */
const splitUnion = (type: string) => type.split(/ \| (?![^[]*\])/);
const optional = (type: string) => union([type, 'None']);
const literal = (values: readonly unknown[]) => {
  const given = values
    .filter((value) => value !== null)
    .map((value) => (value === true ? 'True' : value === false ? 'False' : JSON.stringify(value)));
  return union([
    ...(given.length ? [`Literal[${given.join(', ')}]`] : []),
    ...(given.length < values.length ? ['None'] : []),
  ]);
};
const quoted = (text: string) => JSON.stringify(text);
const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"');
const snake = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');
const pascal = (name: string) =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
/** Python's name of a parameter. */
const identifier = (name: string) => {
  const plain = name.replaceAll(/\W/g, '_').replace(/^(\d)/, '_$1');
  return KEYWORDS.has(plain) ? `${plain}_` : plain;
};
