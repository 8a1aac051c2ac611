import { AwsError } from './account.ts';

/**
 * One finding. `fix`: a deployment would fail, or would not work. `check`: it cannot be seen with these credentials, or may be
 * deliberate.
 */
export interface Line {
  readonly subject: string;
  readonly state: 'ok' | 'fix' | 'check';
  readonly found: string;
  /** What to do. */
  readonly advice: string;
}

export const ok = (subject: string, found: string): Line => ({
  subject,
  state: 'ok',
  found,
  advice: 'nothing',
});
export const fix = (subject: string, found: string, advice: string): Line => ({
  subject,
  state: 'fix',
  found,
  advice,
});
export const check = (subject: string, found: string, advice: string): Line => ({
  subject,
  state: 'check',
  found,
  advice,
});

/** Lines of a check. Where AWS rejects its call, the line says so: what was not seen has not passed. */
export async function linesOf(
  subject: string,
  read: () => Promise<readonly Line[]>,
): Promise<readonly Line[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AwsError) return [unread(subject, error)];
    throw error;
  }
}

/** Line about what could not be read. */
export function unread(subject: string, { code, message }: AwsError): Line {
  const isDenied = /AccessDenied|Unauthorized|NotAuthorized/.test(code);
  const advice = isDenied ? 'use credentials that may make this call' : 'run the command again';
  return fix(subject, message, advice);
}
