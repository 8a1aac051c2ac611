import type { EnvDeclaration, EnvOf, OptionalVariable, Variable } from '#contract/env/env-fields.ts';

/**
 * The values of an environment; an empty variable counts as absent.
 * Throws one error that names every missing or malformed variable, never a value.
 */
export function readEnv<E extends EnvDeclaration>(
  { variables, check }: E,
  source: Readonly<Record<string, string | undefined>> = process.env,
): EnvOf<E> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const reject = (name: string, message: string) =>
    problems.push(source[name] ? `${name} is malformed: ${message}` : `${name} is missing`);
  for (const [name, variable] of Object.entries(variables)) {
    try {
      const value = readVariable(variable, source[name]);
      if (value !== undefined) values[name] = value;
    } catch (error) {
      reject(name, (error as Error).message);
    }
  }
  if (problems.length === 0) for (const { name, message } of check?.(values) ?? []) reject(name, message);
  if (problems.length > 0) throw new Error(`The environment does not fit: ${problems.join(', ')}`);
  return values as EnvOf<E>;
}

function readVariable(variable: Variable | OptionalVariable, text: string | undefined): unknown {
  if (text) return variable.parse(text);
  if ('fallback' in variable) return variable.fallback;
  throw new Error('must be set');
}
