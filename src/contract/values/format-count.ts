/** An integer with commas between its thousands. `toLocaleString` takes 10 ms at its first call, to load the locales. */
export const formatInteger = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

/** `1 file`, `1,200 files`. */
export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatInteger(count)} ${count === 1 ? noun : plural}`;
