import type * as z from 'zod';
import { isAbsentWhenNull } from '../common/null-fields.ts';

/** Changes of the JSON Schemas that zod writes, for the OpenAPI documents. */
export type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Removes the bounds of safe integers, which carry no information. */
export const withoutSafeRange: Override = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

/**
 * Schemas as generators of clients take them. A `default` makes an optional field required in TypeScript, Python takes a number
 * for a wrong constant where a string constant is an alternative, and `items: false` is not read at all. Alternatives of required
 * fields beside the fields themselves make Python omit the operation, and TypeScript a union without them. A constant boolean is an
 * enumeration of texts in Java, and a pattern is checked against a time instead of its text in Python.
 */
export const forGenerators: Override = ({ jsonSchema }) => {
  const { const: constant, prefixItems, default: usual, description, properties, anyOf } = jsonSchema;
  if (typeof constant === 'string') {
    delete jsonSchema.const;
    jsonSchema.enum = [constant];
  }
  if (typeof constant === 'boolean') {
    delete jsonSchema.const;
    Object.assign(jsonSchema, {
      description: [description, `Always ${constant}`].filter(Boolean).join('. '),
      'x-const': constant,
    });
  }
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (prefixItems && new Set(prefixItems.map((item) => JSON.stringify(item))).size === 1) {
    const { length } = prefixItems;
    delete jsonSchema.prefixItems;
    Object.assign(jsonSchema, { items: prefixItems[0], minItems: length, maxItems: length });
  }
  if (properties && anyOf) {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, { 'x-any-of': anyOf });
  }
  if (usual !== undefined) {
    delete jsonSchema.default;
    const text = `Default: ${JSON.stringify(usual)}`;
    Object.assign(jsonSchema, {
      description: description?.includes('Default:')
        ? description
        : [description, text].filter(Boolean).join('. '),
      'x-default': usual,
    });
  }
};

/** Request bodies: null in an optional field means an absent field. */
export const nullFields: Override = ({ zodSchema, jsonSchema }) => {
  if (!isAbsentWhenNull(zodSchema)) return;
  const { $ref, anyOf, type, enum: values } = jsonSchema;
  if ($ref !== undefined) {
    delete jsonSchema.$ref;
    jsonSchema.anyOf = [{ $ref }, { type: 'null' }];
  } else if (anyOf) {
    if (!anyOf.some((branch) => branch.type === 'null')) jsonSchema.anyOf = [...anyOf, { type: 'null' }];
  } else if (values) {
    // One enumeration: of one with null in it, Python makes three.
    delete jsonSchema.type;
    delete jsonSchema.enum;
    Object.assign(jsonSchema, { anyOf: [{ type, enum: values }, { type: 'null' }] });
  } else {
    const types = [type ?? []].flat();
    // The type of JSON Schema's own declaration is a single one; the standard takes a list as well.
    if (types.length > 0) Object.assign(jsonSchema, { type: [...new Set([...types, 'null'])] });
  }
};

/** Part of a JSON Schema as unions are made of it. */
type Branch = Readonly<Record<string, unknown>>;

/**
 * The schema with unions as generators take them: one level of alternatives, each of which they write as a type; and a map that is one
 * of several types without the type of its values, which Java makes a part of the names of variables.
 */
export function withPlainUnions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainUnions);
  if (typeof value !== 'object' || value === null) return value;
  const plain = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withPlainUnions(each)]));
  if (!Array.isArray(plain.anyOf)) return plain;
  const branches = (plain.anyOf as Branch[]).flatMap((branch) =>
    Array.isArray(branch.anyOf) && Object.keys(branch).length === 1 ? (branch.anyOf as Branch[]) : [branch],
  );
  const types = branches.filter(({ type }) => type !== 'null');
  return { ...plain, anyOf: types.length > 1 ? branches.map(withoutValueType) : branches };
}

function withoutValueType(branch: Branch): Branch {
  const { properties, additionalProperties, propertyNames: _, ...rest } = branch;
  if (properties !== undefined || typeof additionalProperties !== 'object') return branch;
  return { ...rest, 'x-additional-properties': additionalProperties };
}
