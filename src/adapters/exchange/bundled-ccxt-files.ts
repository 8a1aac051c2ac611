/** Takes the place of ccxt-files.ts in a bundle, which has no package ccxt but the files of its exchanges next to it. */
export const ccxtFile = (key: string): URL => new URL(`./ccxt/${key}.mjs`, import.meta.url);
