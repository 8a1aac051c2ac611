/** One leaf that differs between two requests; `undefined` where it is absent. */
export interface Change {
  /** Dotted path, such as `config.params.fast`. */
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Leaves that differ, in the order of `to`, then those that are gone. Lists are compared as a whole. */
export function changesBetween(from: unknown, to: unknown, path = ''): readonly Change[] {
  if (isObject(from) && isObject(to)) {
    const keys = new Set([...Object.keys(to), ...Object.keys(from)]);
    return [...keys].flatMap((key) => changesBetween(from[key], to[key], path ? `${path}.${key}` : key));
  }
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }];
}
