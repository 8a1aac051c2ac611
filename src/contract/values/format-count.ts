/** An integer with commas between its thousands. `toLocaleString` takes 10 ms at its first call, to load the locales. */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

/** `1 file`, `1,200 files`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${grouped(count)} ${count === 1 ? noun : plural}`;
