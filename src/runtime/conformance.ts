import { isDeepStrictEqual } from 'node:util';
import { documentedErrors, type Operation } from '#contract/operation.ts';

/** A response that the contract does not describe: a fault of ours, thrown in development and tests. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';
}

/** Throws unless the row describes this success response, down to the last key. */
export function checkResponse(operation: Operation, status: number, body: unknown): void {
  const response = operation.success[status];
  if (!response) throw new ConformanceError(`${operation.id} does not document status ${status}`);
  if (!response.schema) return;
  // As the client gets it: what JSON turns into null must be allowed to be null.
  const received: unknown = JSON.parse(JSON.stringify(body));
  const parsed = response.schema.safeParse(received);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConformanceError(`${operation.id}: ${issue!.path.join('.')}: ${issue!.message}`);
  }
  if (!isDeepStrictEqual(parsed.data, received)) {
    throw new ConformanceError(`${operation.id}: the response has keys that its schema does not name`);
  }
}

/** Throws unless the row documents the code with that status, null standing for the array shape of bodies. */
export function checkError(operation: Operation, status: number, code: string | null): void {
  const documented =
    code === null
      ? operation.body !== undefined
      : documentedErrors(operation).some((error) => error.code === code && error.status === status);
  if (!documented)
    throw new ConformanceError(`${operation.id} does not document ${code} with status ${status}`);
}
