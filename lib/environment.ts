/** Environment variables of a function or container, as an entry point's schema in src/contract/env.ts types them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Without the variables that are not set in this stage. */
export function defined(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
