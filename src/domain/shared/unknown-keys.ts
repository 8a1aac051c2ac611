import { CodedError } from '#contract/values/errors.ts';
import { misspelledName, nearestName } from '#contract/values/nearest-name.ts';

/**
 * One warning for each unknown key of `value`. Unknown keys are ignored.
 *
 * @param pathOf full path of a key that belongs elsewhere in the request
 */
export function unknownKeyWarnings(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
  pathOf: (key: string, value: unknown) => string | undefined = () => undefined,
): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .slice(0, MAX_WARNINGS)
    .map((key) => {
      const shown = `${path}${key.slice(0, 60)}`;
      const nearest = nearestName(key.slice(0, 60), known);
      const meant = pathOf(key, value[key]) ?? (nearest && `${path}${nearest}`);
      return `Unknown key ${shown} was ignored${meant ? `; did you mean ${meant}?` : ''}`;
    });
}

/**
 * Throws VAL005 for the first key of `value` that misspells a known, absent key, or is another name of a known one. Otherwise a default
 * would silently replace the caller's value.
 *
 * @param otherNames known names by the other ones
 */
export function checkSpelling(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
  otherNames: Readonly<Record<string, string>> = {},
): void {
  const absent = known.filter((key) => value[key] === undefined);
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  // Each is compared with each name: thousands of them would take seconds, in which no other request is served.
  for (const key of unknown.slice(0, MAX_SPELLED)) {
    const other = Object.hasOwn(otherNames, key) ? otherNames[key] : undefined;
    const nearest = other ?? misspelledName(key.slice(0, 60), absent);
    if (nearest === undefined) continue;
    const shown = `${path}${key.slice(0, 60)}`;
    throw new CodedError('VAL005', {
      message: `Unknown key ${shown}: did you mean ${path}${nearest}?`,
      field: shown,
      context: { value: key.slice(0, 60), nearest },
    });
  }
}

/** Unknown keys of an object that may be misspelled. */
const MAX_SPELLED = 200;
/** Maximum number of warnings per object. */
const MAX_WARNINGS = 20;
