import * as z from 'zod';
import { ERRORS } from '../values/errors.ts';

/** First error body shape: the request's body does not fit its schema. */
export const RequestValidationError = z
  .object({
    detail: z.array(
      z.object({
        type: z.string().meta({ description: 'For example `missing`, `string_type`, `json_invalid`' }),
        loc: z
          .array(z.union([z.string(), z.int()]))
          .meta({ description: 'Location in the request, starting with `body`' }),
        msg: z.string(),
        input: z.unknown().meta({ description: 'The invalid value; null when it is missing or large' }),
      }),
    ),
  })
  .meta({
    id: 'RequestValidationError',
    description: 'The body lacks a required field or has a value of the wrong JSON type.',
    examples: [
      {
        detail: [
          { type: 'missing', loc: ['body', 'config', 'strategy'], msg: 'Field required', input: null },
        ],
      },
    ],
  });
export type RequestValidationError = z.infer<typeof RequestValidationError>;

/** Second error body shape: all other errors, with a code of the catalogue. */
export const ErrorBody = z
  .object({
    detail: z.object({
      code: z.string().meta({ description: Object.keys(ERRORS).join(', ') }),
      message: z.string(),
      field: z.string().meta({ description: 'Dotted path of the invalid field; empty without one' }),
      context: z.looseObject({}).meta({ description: 'Values that explain the error' }),
    }),
  })
  // Not Error: generators rename a schema with the name of a type of their language, and forget to in some files.
  .meta({ id: 'ErrorBody', description: 'An error with a code.' });
export type ErrorBody = z.infer<typeof ErrorBody>;
