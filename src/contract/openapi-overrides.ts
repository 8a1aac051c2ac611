import type * as z from 'zod';
import { isAbsentWhenNull } from './null-fields.ts';

/** Changes of the JSON Schemas that zod writes, for the OpenAPI documents. */
export type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Removes the bounds of safe integers, which carry no information. */
export const withoutSafeRange: Override = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
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
  } else {
    const types = [type ?? []].flat();
    // The type of JSON Schema's own declaration is a single one; the standard takes a list as well.
    if (types.length > 0) Object.assign(jsonSchema, { type: [...new Set([...types, 'null'])] });
    if (values) jsonSchema.enum = [...new Set([...values, null])];
  }
};
