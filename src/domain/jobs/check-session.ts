import { CodedError } from '#contract/values/errors.ts';
import { SESSION_HEADER, SESSION_NAME } from '#contract/values/names.ts';

/** The name of a session; null without one. Throws VAL005 when it is malformed. */
export function checkSession(name: string | null): string | null {
  if (name === null || SESSION_NAME.test(name)) return name;
  throw new CodedError('VAL005', {
    message: `${SESSION_HEADER} must be 1 to 64 letters, digits, dots, underscores or hyphens`,
    field: SESSION_HEADER,
    context: { value: name.slice(0, 100) },
  });
}
