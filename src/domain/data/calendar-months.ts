/** The months (`YYYY-MM`, UTC) that `[start, end)` ms touches, ascending. */
export function monthsBetween(start: number, end: number): string[] {
  const months: string[] = [];
  const date = new Date(start);
  for (let at = start; at < end; at = date.setUTCMonth(date.getUTCMonth() + 1, 1)) {
    if (at === start) date.setUTCHours(0, 0, 0, 0);
    months.push(new Date(at).toISOString().slice(0, 7));
  }
  return months;
}

/** Start of the month and of the one after it, ms. */
export function monthBounds(month: string): { start: number; end: number } {
  const [year, number] = month.split('-').map(Number);
  return { start: Date.UTC(year!, number! - 1), end: Date.UTC(year!, number!) };
}
