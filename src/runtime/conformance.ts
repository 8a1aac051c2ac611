import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { ErrorBody, RequestValidationError } from '#contract/common/error-bodies.ts';
import { documentedErrors, type Operation } from '#contract/values/operation.ts';
import type { ErrorResponse } from './responses.ts';

/** A response that violates the contract: a bug, thrown in development and tests. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/** Throws unless the row documents this success response with all its keys. */
export function checkResponse(operation: Operation, status: number, body: unknown): void {
  const response = operation.success[status];
  if (!response) throw undocumented(operation, `status ${status}`);
  if (response.schema) checkBody(operation, response.schema, body);
}

/**
 * Throws unless the body of an error has its documented shape and the row, where one matched, documents the code with
 * that status; the array shape has no code.
 */
export function checkError(
  operation: Operation | undefined,
  { status, code, body }: Pick<ErrorResponse, 'status' | 'code' | 'body'>,
): void {
  checkBody(operation, code === null ? RequestValidationError : ErrorBody, body);
  if (!operation) return;
  const documented =
    code === null
      ? operation.body !== undefined
      : documentedErrors(operation).some((error) => error.code === code && error.status === status);
  if (!documented) throw undocumented(operation, `${code} with status ${status}`);
}

/** Like {@link checkResponse} or {@link checkError}, for the response of a function. */
export async function checkFunctionResponse(operation: Operation, response: Response): Promise<void> {
  const body: unknown = await response.clone().json();
  const { status } = response;
  if (operation.success[status]) return checkResponse(operation, status, body);
  if (!documentedErrors(operation).some((error) => error.status === status)) {
    throw undocumented(operation, `status ${status}`);
  }
  checkBody(operation, operation.integration!.rejection, body);
}

function checkBody(operation: Operation | undefined, schema: z.ZodType, body: unknown): void {
  const name = operation?.id ?? 'no operation';
  // Checked as serialized: JSON turns NaN into null, so the schema must allow null.
  const received: unknown = JSON.parse(JSON.stringify(body));
  const parsed = schema.safeParse(received);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConformanceError(`${name}: ${issue!.path.join('.')}: ${issue!.message}`);
  }
  if (!isDeepStrictEqual(parsed.data, received)) {
    throw new ConformanceError(`${name}: the response has keys that its schema does not name`);
  }
}

function undocumented(operation: Operation, what: string): ConformanceError {
  return new ConformanceError(`${operation.id} does not document ${what}`);
}
