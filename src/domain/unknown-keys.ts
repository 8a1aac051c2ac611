import { nearestName } from '#engine/nearest-name.ts';

/** One warning for each key of `value` that is not known: ignored, but never silently. */
export function unknownKeyWarnings(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .slice(0, MAX_WARNINGS)
    .map((key) => {
      const shown = `${path}${key.slice(0, 60)}`;
      const nearest = nearestName(key.slice(0, 60), known);
      return `Unknown key ${shown} was ignored${nearest ? `; did you mean ${path}${nearest}?` : ''}`;
    });
}

/** A body can hold thousands of keys; a person reads a few. */
const MAX_WARNINGS = 20;
