/** Bounds of a number, both inclusive. */
export interface NumberBounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly isInteger?: boolean | undefined;
}

/** Number of what was typed: undefined if nothing was. Takes a decimal comma and a true minus. */
export function parseNumber(text: string): number | undefined {
  const plain = text
    .trim()
    .replace('−', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  return plain === '' ? undefined : Number(plain);
}

/** Message about a typed number, undefined if it is valid. */
export function numberError(text: string, { min, max, isInteger }: NumberBounds): string | undefined {
  const number = parseNumber(text);
  if (number === undefined) return undefined;
  if (!Number.isFinite(number)) return 'Not a number';
  if (isInteger && !Number.isInteger(number)) return 'Must be an integer';
  if (min !== undefined && number < min) return `Must be at least ${min}`;
  if (max !== undefined && number > max) return `Must be at most ${max}`;
  return undefined;
}
