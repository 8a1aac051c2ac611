import * as z from 'zod';

/**
 * Applies a JSON Merge Patch (RFC 7396): objects are merged by key, null removes a value, and anything else, also a list,
 * replaces it.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/**
 * Schema of the merge patches of an object: every value is optional, and one that may be absent may be null. It has no defaults: a default
 * of the schema in a patch would replace what the patch leaves alone.
 */
export function patchOf(schema: z.ZodType): z.ZodType {
  const patch = withoutDescription(schema);
  const description = schema.description ?? patch.description;
  return description === undefined ? patch : patch.describe(description);
}

function withoutDescription(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  ) {
    return patchOf(schema.unwrap() as z.ZodType).nullable();
  }
  // Of a choice by a word, such as the kind of identity, a patch says the whole.
  if (schema instanceof z.ZodUnion && !(schema instanceof z.ZodDiscriminatedUnion)) {
    return schema.clone({ ...schema.def, options: schema.options.map((each) => patchOf(each as z.ZodType)) });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([key, value]) => [key, patchOf(value).optional()]);
  return z.strictObject(Object.fromEntries(shape));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
