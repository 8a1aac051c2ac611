import type * as z from 'zod';

/**
 * Environment parsed by `schema`; an empty variable counts as absent.
 * Throws one error that names every missing or malformed variable, never a value.
 */
export function readEnv<T extends z.ZodType>(
  schema: T,
  source: Readonly<Record<string, string | undefined>> = process.env,
): z.output<T> {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  // To compile the schema takes longer than to interpret it once.
  const parsed = schema.safeParse(present, { jitless: true });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = issue.path.join('.');
    return name in present ? `${name} is malformed: ${issue.message}` : `${name} is missing`;
  });
  throw new Error(`The environment does not fit: ${problems.join(', ')}`);
}
