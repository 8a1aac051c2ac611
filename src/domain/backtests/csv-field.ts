/**
 * Text that a spreadsheet would calculate (OWASP, CSV injection). Tags and reasons are made by strategies, which may be code of others.
 */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

/** A field of CSV (RFC 4180); null is empty. */
export function csvField(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
