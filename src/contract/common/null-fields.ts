import * as z from 'zod';

/**
 * `null` in an optional field of a request body means the same as leaving the field out. A field whose own schema takes
 * null gives it a meaning of its own and keeps it.
 */

/** JSON Schema that requires fields which are optional in the schema of the body. */
export function given(properties: Readonly<Record<string, object>>) {
  return { required: Object.keys(properties), properties };
}

/** True when null in a field of that schema means an absent field. */
export function isAbsentWhenNull(field: z.core.$ZodType): boolean {
  return z.safeParse(field, undefined).success && !z.safeParse(field, null).success;
}

/** The value without null fields that mean absence, at every depth of the schema. */
export function withoutNullFields(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return withoutNullFields(def.innerType, value);
    case 'array':
      return Array.isArray(value) ? value.map((each) => withoutNullFields(def.element, each)) : value;
    case 'record':
      return Array.isArray(value)
        ? value
        : mapFields(value, (_, each) => withoutNullFields(def.valueType, each));
    case 'object':
      return Array.isArray(value) ? value : mapFields(value, (key, each) => readField(def.shape, key, each));
    default:
      return value;
  }
}

function readField(shape: z.core.$ZodShape, key: string, value: unknown): unknown {
  const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
  if (!field) return value;
  return value === null && isAbsentWhenNull(field) ? undefined : withoutNullFields(field, value);
}

/** Drops fields that `read` maps to undefined. */
function mapFields(value: object, read: (key: string, each: unknown) => unknown): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, each]) => [key, read(key, each)] as const);
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}
