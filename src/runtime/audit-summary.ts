/** What of a request goes into the audit trail: enough to see what was asked, never a secret, never much. */

const MAX_LENGTH = 3_000;
const KEYS = 40;
const REMOVED = '[removed]';

interface Limits {
  readonly text: number;
  readonly items: number;
  readonly depth: number;
}

/** From generous to terse: the first whose summary is short enough is taken. */
const LIMITS: readonly Limits[] = [
  { text: 200, items: 20, depth: 6 },
  { text: 60, items: 5, depth: 4 },
  { text: 20, items: 2, depth: 2 },
];

const SECRET_NAME =
  /token|secret|passw|credential|authorization|cookie|session|signature|api_?-?key|private_?-?key|access_?-?key/i;

/** Tokens, keys of AWS, PEM files, and passwords in addresses, under whatever name. */
const SECRET_VALUE =
  /\bbearer\s|\beyJ[\w-]{5,}\.[\w-]{5,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|-----BEGIN |:\/\/[^/\s]{1,200}@/i;

/** JSON of at most 3,000 characters, whatever the value; null for null. */
export function summarise(value: object | null): string | null {
  if (value === null) return null;
  for (const limits of LIMITS) {
    const text = JSON.stringify(shorten(value, limits, 0));
    if (text.length <= MAX_LENGTH) return text;
  }
  return JSON.stringify({ summary: 'too large' });
}

function shorten(value: unknown, limits: Limits, depth: number): unknown {
  if (typeof value === 'string') return SECRET_VALUE.test(value) ? REMOVED : plainText(value, limits.text);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === limits.depth) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, limits.items).map((each) => shorten(each, limits, depth + 1));
    return value.length > limits.items ? [...shown, `… ${value.length - limits.items} more`] : shown;
  }
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const shown = entries
    .slice(0, KEYS)
    .map(([name, each]) => [
      plainText(name, 60),
      SECRET_NAME.test(name) && each !== null ? REMOVED : shorten(each, limits, depth + 1),
    ]);
  const more = entries.length > KEYS ? [['…', `${entries.length - KEYS} more`]] : [];
  return Object.fromEntries([...shown, ...more]);
}

/** At most `max` characters without any that could steer a terminal, forge a line or turn text round. */
export function plainText(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return cut.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
