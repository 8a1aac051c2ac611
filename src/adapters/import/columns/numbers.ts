/** Decimal numbers; excludes hexadecimal numbers, `NaN` and `Infinity`. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** What programs write where a number is missing. */
const MISSING = /^(|nan|null|none|na|n\/a|#n\/a|<na>|-+)$/i;
/** Thousand, million, ... after the volumes of Investing. */
const UNITS: Readonly<Record<string, string>> = { K: 'e3', M: 'e6', B: 'e9', T: 'e12' };
const GROUPED = /^[+-]?\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+$/;

/** Number of a text; NaN for a missing one; undefined for any other text. */
export function numberIn(text: string, decimalComma: boolean): number | undefined {
  const value = Number(text);
  if (value !== 0 && Number.isFinite(value) && !decimalComma && DECIMAL.test(text)) return value;
  const trimmed = text.trim().replace(/^[$€£¥]/, '');
  if (MISSING.test(trimmed)) return Number.NaN;
  const unit = UNITS[trimmed.at(-1)!.toUpperCase()];
  const digits = unit === undefined ? trimmed : trimmed.slice(0, -1).trim();
  const [group, point] = decimalComma ? ['.', ','] : [',', '.'];
  const plain = digits
    .replaceAll(group, '')
    .replaceAll(/['\s\u00a0\u202f]/g, '')
    .replace(point, '.');
  if (plain !== digits && !isGrouped(digits, point)) return undefined;
  const number = DECIMAL.test(plain) ? Number(`${plain}${unit ?? ''}`) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** True for digits in groups of three before the decimal mark. */
function isGrouped(digits: string, point: string): boolean {
  const [whole = '', fraction, ...more] = digits.split(point);
  if (more.length > 0 || (fraction !== undefined && !/^\d*(?:[eE][+-]?\d+)?$/.test(fraction))) return false;
  return /^[+-]?\d*$/.test(whole) || GROUPED.test(whole);
}

/**
 * True if the numbers of a file have a decimal comma: one of its values cannot be read with a decimal point, and none only with it.
 * @param cells values of all columns; those of percentages help too
 */
export function hasDecimalComma(cells: Iterable<string>): boolean {
  let comma = false;
  for (const cell of cells) {
    const text = cell.trim().replace(/\s?[%KMBT]$/i, '');
    if (!/^[+-]?[\d.,]+$/.test(text) || !/[.,]/.test(text)) continue;
    const [lastPoint, lastComma] = [text.lastIndexOf('.'), text.lastIndexOf(',')];
    if (lastPoint >= 0 && lastComma >= 0) {
      if (lastComma > lastPoint) comma = true;
      else return false;
    } else if (lastComma >= 0) {
      if (!GROUPED.test(text) || /^[+-]?0,/.test(text)) comma = true;
    } else if (!GROUPED.test(text) && lastPoint === text.indexOf('.')) return false;
  }
  return comma;
}
