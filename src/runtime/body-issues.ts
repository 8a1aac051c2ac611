import * as z from 'zod';
import type { RequestValidationError } from '#contract/common.ts';

export type BodyIssue = RequestValidationError['detail'][number];

/** The body does not fit its schema: answered as 400 with an array. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly issues: readonly BodyIssue[];

  constructor(issues: readonly BodyIssue[]) {
    super('The request body does not fit its schema');
    this.issues = issues;
  }
}

/** A broken body can have thousands of faults; a person reads a few. */
const MAX_ISSUES = 50;
/** Longest JSON of a value at fault that is sent back, characters. */
const MAX_INPUT = 1000;

/** `value` as the schema reads it. Throws BodyError with an issue for each fault, named as pydantic names them. */
export function parseBody<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = z.safeParse(schema, value, { reportInput: true, error: (issue) => issueType(issue) });
  if (parsed.success) return parsed.data;
  throw new BodyError(parsed.error.issues.flatMap((issue) => bodyIssues(issue, [])).slice(0, MAX_ISSUES));
}

/** One issue, or those of each branch for a union: none of its branches fits. What is missing is so in all of them. */
function bodyIssues(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): BodyIssue[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0 && issue.input !== undefined) {
    return issue.errors.flatMap((branch) => branch.flatMap((inner) => bodyIssues(inner, path)));
  }
  return [bodyIssue(issue.message, path, issue.input)];
}

/** An issue at `path` of the body. A missing or large value is shown as null. */
export function bodyIssue(
  type: string,
  path: readonly PropertyKey[],
  input: unknown,
  msg?: string,
): BodyIssue {
  return {
    type,
    loc: ['body', ...path.map((key) => (typeof key === 'number' ? key : String(key)))],
    msg: msg ?? MESSAGES[type] ?? 'Value error',
    input: input === undefined || JSON.stringify(input).length > MAX_INPUT ? null : input,
  };
}

const MESSAGES: Readonly<Record<string, string>> = {
  missing: 'Field required',
  string_type: 'Input should be a valid string',
  int_type: 'Input should be a valid integer',
  int_from_float: 'Input should be a valid integer, got a number with a fractional part',
  int_parsing_size: 'Input should be a valid integer, exceeded maximum size',
  float_type: 'Input should be a valid number',
  finite_number: 'Input should be a finite number',
  bool_type: 'Input should be a valid boolean',
  list_type: 'Input should be a valid list',
  dict_type: 'Input should be a valid dictionary',
  none_required: 'Input should be null',
  literal_error: 'Input should be one of the allowed values',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'string_type',
  int: 'int_from_float',
  boolean: 'bool_type',
  array: 'list_type',
  object: 'dict_type',
  record: 'dict_type',
  null: 'none_required',
};

/** pydantic's name of a raw zod issue. It is asked for while parsing, when the issue still knows its schema. */
function issueType(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'missing';
  if (issue.code === 'invalid_value') return 'literal_error';
  // The only bound of body schemas: whole numbers that a double cannot hold.
  if (issue.code === 'too_big' || issue.code === 'too_small') return 'int_parsing_size';
  if (issue.code !== 'invalid_type') return 'value_error';
  if (issue.expected !== 'number') return TYPES[issue.expected] ?? 'value_error';
  if (typeof issue.input === 'number') return 'finite_number';
  return issue.inst instanceof z.ZodNumberFormat ? 'int_type' : 'float_type';
}
