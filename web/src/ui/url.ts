/** Search parameters of a URL as the router parses them. */
export type Raw = Readonly<Record<string, unknown>>;

/** The value if it is one of some. */
export function oneOf<const T extends string>(values: readonly T[], value: unknown): T | undefined {
  return values.find((each) => each === value);
}

/** A text that is not empty. */
export function text(value: unknown): string | undefined {
  // The router parses search values as JSON: a name made of digits arrives as a number.
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Value of a text that must be quoted in an address, since the router would read it as JSON. A number is not: {@link text} reads it back.
 *
 * @throws SyntaxError for a text that is written as it is
 */
export function quotedText(value: string): unknown {
  if (String(Number(value)) === value) throw new SyntaxError('A number is written as it is');
  return JSON.parse(value);
}

/** An integer from 0. */
export function natural(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** Without the values that are undefined: what does not fit is dropped, so that no link breaks a page. */
export function present<T extends object>(search: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never;
}

/**
 * What `read` makes of a page's parameters, and nothing else: the router adds all that are in the address, also those that were
 * dropped.
 */
export function only<T extends object>(read: (raw: Raw) => T): (raw: Raw) => T {
  return (raw) => ({
    ...Object.fromEntries(Object.keys(raw).map((name) => [name, undefined])),
    ...read(raw),
  });
}
