import { number } from '../format.ts';

const MOST_DIGITS = 7;
const MOST_PLAIN = 1e9;

/** A number with its sign, to the digit that shows differences of `unit`: `+0.17`, `-1,250`, `+2.1e-9`; `0` for what rounds to it. */
export function signed(value: number, unit: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  if (digits > MOST_DIGITS || Math.abs(value) >= MOST_PLAIN) {
    if (value === 0) return '0';
    return `${value > 0 ? '+' : ''}${value.toExponential(Math.abs(value) < unit ? 0 : 1)}`;
  }
  const text = number(Math.abs(value), digits);
  if (!/[1-9]/.test(text)) return '0';
  return `${value > 0 ? '+' : '-'}${text}`;
}

/** A p-value: four digits say enough. */
export function pText(p: number): string {
  return p < 0.0001 ? 'below 0.0001' : p.toFixed(4);
}

const MINUTE_MS = 60_000;

/** A time as `6 d 22 h`, `3 h 05 min`, `12 min` or `40 s`; never negative. */
export function timeText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${String(hours % 24).padStart(2, '0')} h`;
}
