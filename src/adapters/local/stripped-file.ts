/*
 * Place, name and last line of a strategy source without types, for the processes that write it and that load it. This module
 * imports nothing: it is loaded before every program of a sandbox.
 */

/** Folder of strategy sources without types: next to the compile cache, to which a task may write until it loads a strategy. */
export const strippedSources = (compiled: string): string => `${compiled}-strategies`;

/** @param digest sha-256 of the source, hex */
export const strippedFile = (digest: string): string => `${digest}.js`;

/** Last line of a file that was written whole; the newline before it keeps a comment at the end of the source apart. */
export const strippedEnd = (digest: string): string => `\n// Types removed from ${digest}\n`;
